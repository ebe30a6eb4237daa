#ifndef TTL_SERVICE_PROCESS_THREAD_CHECK_H_
#define TTL_SERVICE_PROCESS_THREAD_CHECK_H_

#include "absl/status/status.h"

namespace ttl {

// RESOURCE_EXHAUSTED, naming the limits to raise, if this process cannot start `own` threads in
// addition to those of gRPC, which aborts the process if it cannot start a thread. Starts the
// threads and ends them again, because no limit that the system shows is reliable. To be called at
// the start of a program.
absl::Status CheckThreads(int own);

}  // namespace ttl

#endif  // TTL_SERVICE_PROCESS_THREAD_CHECK_H_
