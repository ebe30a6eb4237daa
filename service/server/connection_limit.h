#ifndef TTL_SERVICE_SERVER_CONNECTION_LIMIT_H_
#define TTL_SERVICE_SERVER_CONNECTION_LIMIT_H_

#include <cstdint>

namespace ttl {

// Files that the process may have open besides its connections: tables of the database
// above all, which LevelDB bounds by a thousand.
inline constexpr int64_t kOtherOpenFiles = 1200;

// Bounds the connections to all servers of this process: at least `max_connections` are
// served, those beyond them are closed as soon as they come. Raises the limit on open
// files as far as that needs and the system allows; if it allows less, fewer are served,
// and a warning says so.
//
// Without it, a flood of connections would end the service: gRPC 1.51 knows no bound, and
// stops listening for good once the process may open no more files. So this file has its
// own accept4(), which the linker puts in place of the C library's.
//
// To be called once, before anything listens.
void LimitConnections(int64_t max_connections);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONNECTION_LIMIT_H_
