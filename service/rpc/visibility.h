#ifndef TTL_SERVICE_RPC_VISIBILITY_H_
#define TTL_SERVICE_RPC_VISIBILITY_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/ttl_rules.h"
#include "ttl/v1/item_service.pb.h"

// Visibility checks, apart from any transport.
namespace ttl {

// What is tracked of a key; absent if nothing is.
using FindItemTimes = absl::FunctionRef<absl::StatusOr<std::optional<ItemTimes>>(
    absl::string_view partition_key, absl::string_view id)>;

// Judges the checks of a valid request, in order, as of `now`. Of carried and
// tracked state the newer one by ts counts, the carried one at equal ts. Carried
// state that is impossible is VISIBLE, and `impossible` says how often that was
// met. Where `find` fails, carried state is judged alone; without any the whole
// call fails as `find` did, and `response` is of no use.
absl::Status JudgeChecks(const Container& container, FindItemTimes find, absl::Time now,
                         const v1::CheckVisibilityRequest& request,
                         v1::CheckVisibilityResponse& response, int64_t& impossible);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_VISIBILITY_H_
