#ifndef TTL_TESTS_BENCH_ECHO_ASYNC_ECHO_H_
#define TTL_TESTS_BENCH_ECHO_ASYNC_ECHO_H_

#include <string>

namespace ttl::bench {

// Serves the echo at `address` by one completion queue and this thread, until the
// process is killed. Returns false if it cannot listen.
bool ServeAsync(const std::string& address);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_ECHO_ASYNC_ECHO_H_
