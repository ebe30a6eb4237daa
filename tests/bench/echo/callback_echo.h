#ifndef TTL_TESTS_BENCH_ECHO_CALLBACK_ECHO_H_
#define TTL_TESTS_BENCH_ECHO_CALLBACK_ECHO_H_

#include <string>

namespace ttl::bench {

// Serves the unary methods of the echo at `address` by gRPC's callback API until the
// process is killed. Returns false if it cannot listen.
bool ServeByCallbacks(const std::string& address);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_ECHO_CALLBACK_ECHO_H_
