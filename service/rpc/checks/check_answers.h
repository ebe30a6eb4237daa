#ifndef TTL_SERVICE_RPC_CHECKS_CHECK_ANSWERS_H_
#define TTL_SERVICE_RPC_CHECKS_CHECK_ANSWERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "service/rpc/checks/check_counters.h"
#include "ttl/v1/item.pb.h"

namespace ttl {

// The answers to the checks of one request, in order, and their wire format, that of a
// CheckVisibilityResponse. Reusable, so that a call allocates nothing. Not thread-safe.
class CheckAnswers {
 public:
  // Clears all answers. `judged_at` is the time of those that follow, about `count`.
  void Begin(absl::Time judged_at, size_t count);

  void Add(v1::Visibility visibility, std::optional<int64_t> expire_time);

  // Replaces the visibility of an answer; its expire time stays.
  void SetVisibility(size_t position, v1::Visibility visibility);
  v1::Visibility VisibilityAt(size_t position) const {
    return static_cast<v1::Visibility>(visibilities_[position]);
  }

  size_t size() const { return visibilities_.size(); }

  // Number of answers by verdict.
  VerdictCounts Verdicts() const;

  // Size of the message, and of a StreamCheckVisibilityResponse that holds it, in bytes.
  size_t WireSize() const;
  size_t StreamedWireSize() const;

  // Writes exactly that many bytes to `out`.
  void Write(uint8_t* out) const;
  void WriteStreamed(uint8_t* out) const;

 private:
  std::vector<uint8_t> visibilities_;  // one byte each, as on the wire
  std::array<int64_t, v1::Visibility_ARRAYSIZE> counts_ = {};
  std::vector<int64_t> expire_times_;  // Unix seconds; 0: never, or unknown
  size_t expire_times_bytes_ = 0;      // on the wire
  std::string judged_at_;              // on the wire
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_CHECKS_CHECK_ANSWERS_H_
