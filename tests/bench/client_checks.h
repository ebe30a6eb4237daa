#ifndef TTL_TESTS_BENCH_CLIENT_CHECKS_H_
#define TTL_TESTS_BENCH_CLIENT_CHECKS_H_

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ttl {

// What threads that ask one check after the other, each waiting for its answer, get.
struct ClientCheckRate {
  double checks_per_second = 0;
  std::chrono::nanoseconds p50{0};
  std::chrono::nanoseconds p99{0};
};

// The same load twice, one after the other.
struct ClientCheckRound {
  ClientCheckRate alone;   // a call for each check
  ClientCheckRate shared;  // TtlClientOptions::share_checks
};

struct ClientCheckOptions {
  std::string address;  // of the sidecar
  int threads = 64;
  int rounds = 5;
  std::chrono::milliseconds warm_up{200};
  std::chrono::milliseconds window{1000};
};

// Makes the container that is asked about, unless it exists, and tracks the items in it:
// visible and expired ones, and some keys stay untracked.
absl::Status PrepareClientChecks(const std::string& address);

// TtlClient::CheckItem as it is used by many threads, with and without sharing, in
// interleaved rounds. Every answer is compared with the truth; a wrong one is an error,
// and so is one that fails. After PrepareClientChecks().
absl::StatusOr<std::vector<ClientCheckRound>> CompareClientChecks(
    const ClientCheckOptions& options);

}  // namespace ttl

#endif  // TTL_TESTS_BENCH_CLIENT_CHECKS_H_
