#ifndef TTL_SERVICE_LOG_LIBRARY_LOGS_H_
#define TTL_SERVICE_LOG_LIBRARY_LOGS_H_

namespace ttl {

// Makes gRPC and protobuf log by spdlog's default logger, with constant names of their events:
// what they have to say of bad input comes as often as clients send it. For the whole process.
void CatchLibraryLogs();

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LIBRARY_LOGS_H_
