#ifndef TTL_SERVICE_RPC_CHECKS_CHECK_REQUEST_H_
#define TTL_SERVICE_RPC_CHECKS_CHECK_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "service/core/ttl_rules.h"

namespace ttl {

inline constexpr int kMaxChecksPerCall = 10000;

// One item to judge.
struct Check {
  absl::string_view partition_key;
  absl::string_view id;
  std::optional<ItemTimes> carried;  // the state that the check carries
};

// A CheckVisibilityRequest, read from its bytes on the wire without copying them: the
// generated class would copy every key, which costs more than the judging.
// Compatible with it in what is accepted and what that means, but for a container id
// that is not UTF-8, which is accepted here and names no container. For one thread;
// made to be used again and again.
class CheckRequest {
 public:
  // Reads a request in place of the one before. The views point into `bytes`.
  // INVALID_ARGUMENT if they are not such a message.
  absl::Status Parse(absl::string_view bytes);

  // The same for a StreamCheckVisibilityRequest, of which it is the request.
  absl::Status ParseStreamed(absl::string_view bytes);

  absl::string_view container() const { return container_; }

  // At most kMaxChecksPerCall + 1; count() says how many there were.
  absl::Span<const Check> checks() const { return checks_; }
  size_t count() const { return count_; }

 private:
  void Clear();
  bool Read(absl::string_view bytes);
  bool ReadStreamed(absl::string_view bytes);

  absl::string_view container_;
  std::vector<Check> checks_;
  size_t count_ = 0;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_CHECKS_CHECK_REQUEST_H_
