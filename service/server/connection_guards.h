#ifndef TTL_SERVICE_SERVER_CONNECTION_GUARDS_H_
#define TTL_SERVICE_SERVER_CONNECTION_GUARDS_H_

#include <cstdint>

#include "service/server/frame_guard.h"

namespace ttl {

// Holds all clients of this process to `limits`, with a FrameGuard for each connection: one
// that breaks them is closed, as if its client had hung up, and counted by the reason.
//
// gRPC 1.51 has no place for such a rule, neither before nor behind TLS. So this file has
// its own recvmsg(), SSL_read() and close(), which the linker puts in place of those of the
// libraries; they do what those do and show the guards what was read.
//
// To be called once, before anything listens, with the number that no file will reach.
void GuardConnections(int64_t file_bound, const FrameLimits& limits);

// To be called for every connection when it is accepted, before it is read from.
void BeginGuard(int connection);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONNECTION_GUARDS_H_
