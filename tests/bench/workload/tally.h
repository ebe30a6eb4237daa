#ifndef TTL_TESTS_BENCH_WORKLOAD_TALLY_H_
#define TTL_TESTS_BENCH_WORKLOAD_TALLY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ttl::workload {

// What a run has done and seen.
struct Tally {
  int64_t puts = 0;  // Documents, not calls.
  int64_t creates = 0;
  int64_t replaces = 0;
  int64_t touches = 0;
  int64_t deletes = 0;
  int64_t gets = 0;
  int64_t queries = 0;

  // Answers compared with the oracle: documents shown, and documents not shown.
  int64_t shown = 0;
  int64_t hidden = 0;
  // Of these, answers within 10 ms of the instant of expiry.
  int64_t at_boundary = 0;

  // Calls that failed without an answer, and documents whose fate had to be
  // looked up because of that.
  int64_t unanswered = 0;
  int64_t resolved = 0;

  // Answers that disagree with the oracle; the first few in words.
  int64_t mismatches = 0;
  std::vector<std::string> mismatch_samples;

  void AddMismatch(std::string description);

  // Adds up.
  void Add(const Tally& other);
};

}  // namespace ttl::workload

#endif  // TTL_TESTS_BENCH_WORKLOAD_TALLY_H_
