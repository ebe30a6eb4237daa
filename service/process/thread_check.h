#ifndef TTL_SERVICE_PROCESS_THREAD_CHECK_H_
#define TTL_SERVICE_PROCESS_THREAD_CHECK_H_

#include "absl/status/status.h"

namespace ttl {

// RESOURCE_EXHAUSTED, with the limits to raise, if this process cannot start `own` threads now
// beside those that gRPC starts by itself. Starts them and ends them again: no number that the
// system shows says it, and a thread of gRPC that cannot be started aborts the process. For the
// start of a program.
absl::Status CheckThreads(int own);

}  // namespace ttl

#endif  // TTL_SERVICE_PROCESS_THREAD_CHECK_H_
