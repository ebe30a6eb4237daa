#ifndef TTL_SERVICE_LOG_LIBRARY_LOGS_H_
#define TTL_SERVICE_LOG_LIBRARY_LOGS_H_

namespace ttl {

// Makes gRPC and protobuf log through spdlog's default logger, under constant event names, so that
// their lines about bad input are rate-limited. Applies to the whole process.
void CatchLibraryLogs();

}  // namespace ttl

#endif  // TTL_SERVICE_LOG_LIBRARY_LOGS_H_
