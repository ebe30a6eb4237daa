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

// The answers to the checks of one request, in their order, and their bytes on the
// wire: those of a CheckVisibilityResponse. For one thread; made to be used again and
// again.
class CheckAnswers {
 public:
  // Forgets all answers; those that follow are judged at `judged_at`.
  void Begin(absl::Time judged_at, size_t count);

  void Add(v1::Visibility visibility, std::optional<int64_t> expire_time);

  size_t size() const { return visibilities_.size(); }

  // How many there are of each verdict.
  VerdictCounts Verdicts() const;

  // Bytes of the message, and of a StreamCheckVisibilityResponse that holds it.
  size_t WireSize() const;
  size_t StreamedWireSize() const;

  // Writes as many bytes to `out`.
  void Write(uint8_t* out) const;
  void WriteStreamed(uint8_t* out) const;

 private:
  std::vector<uint8_t> visibilities_;  // as on the wire, a byte each
  std::array<int64_t, v1::Visibility_ARRAYSIZE> counts_ = {};
  std::vector<int64_t> expire_times_;  // 0: never, or not known
  size_t expire_times_bytes_ = 0;      // on the wire
  std::string judged_at_;              // on the wire
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_CHECKS_CHECK_ANSWERS_H_
