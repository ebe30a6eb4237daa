#ifndef TTL_SERVICE_RPC_CHECKS_CHECK_REQUEST_H_
#define TTL_SERVICE_RPC_CHECKS_CHECK_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "service/core/ttl_rules.h"

namespace ttl {

inline constexpr int kMaxChecksPerCall = 10000;

// One item to judge.
struct Check {
  absl::string_view partition_key;
  absl::string_view id;
  std::optional<ItemTimes> carried;  // ts and ttl in the check; absent if it has no ts
};

// A CheckVisibilityRequest, parsed from the wire format without copying: the generated class would
// copy every key, which costs more than judging it. Accepts the same bytes with the same meaning,
// except that a container id need not be UTF-8 (such an id names no container). Reusable, so that a
// call allocates nothing. Not thread-safe.
class CheckRequest {
 public:
  // Replaces the previous request. The views point into `bytes`, which must outlive their use.
  // INVALID_ARGUMENT, and an empty request, if `bytes` is not a valid message.
  absl::Status Parse(absl::string_view bytes);

  // The same for the `request` field of a StreamCheckVisibilityRequest.
  absl::Status ParseStreamed(absl::string_view bytes);

  absl::string_view container() const { return container_; }

  // The first kMaxChecksPerCall + 1 checks; count() counts all of them.
  absl::Span<const Check> checks() const { return checks_; }
  size_t count() const { return count_; }

  // The instant as of which to judge; absent: now. Not validated.
  std::optional<absl::Time> as_of() const {
    if (!has_as_of_) return std::nullopt;
    return absl::FromUnixSeconds(as_of_seconds_) + absl::Nanoseconds(as_of_nanos_);
  }

 private:
  void Clear();
  bool Read(absl::string_view bytes);
  bool ReadStreamed(absl::string_view bytes);
  bool ReadAsOf(absl::string_view bytes);

  absl::string_view container_;
  std::vector<Check> checks_;
  size_t count_ = 0;
  bool has_as_of_ = false;
  int64_t as_of_seconds_ = 0;  // as_of, as in a Timestamp
  int32_t as_of_nanos_ = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_CHECKS_CHECK_REQUEST_H_
