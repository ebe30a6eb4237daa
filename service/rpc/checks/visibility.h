#ifndef TTL_SERVICE_RPC_CHECKS_VISIBILITY_H_
#define TTL_SERVICE_RPC_CHECKS_VISIBILITY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "service/core/container.h"
#include "service/core/ttl_rules.h"
#include "service/rpc/checks/check_answers.h"
#include "service/rpc/checks/check_request.h"
#include "service/storage/items.h"

// Visibility checks, apart from any transport.
namespace ttl {

// What is tracked of keys: replaces the results by one for each, absent where nothing is.
using FindItemTimes =
    absl::FunctionRef<void(absl::Span<const KeyView> keys, std::vector<FoundTimes>& times)>;

// Checks of one request that carry impossible state.
struct ImpossibleChecks {
  int64_t count = 0;
  size_t first = 0;  // position of the first, if there is one
};

// Judges the checks of a valid request, in order, as of `now`. Of carried and
// tracked state the newer one by ts counts, the carried one at equal ts. Carried
// state that is impossible is VISIBLE, and `impossible` says how often that was
// met. Where `find` fails, carried state is judged alone; without any the whole
// call fails as `find` did, and `answers` is of no use.
absl::Status JudgeChecks(const Container& container, FindItemTimes find, absl::Time now,
                         absl::Span<const Check> checks, CheckAnswers& answers,
                         ImpossibleChecks& impossible);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_CHECKS_VISIBILITY_H_
