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

// Visibility checks, independent of the transport.
namespace ttl {

// Looks up tracked items. Replaces `times` by one result per key, absent if the key is not tracked.
using FindItemTimes =
    absl::FunctionRef<void(absl::Span<const KeyView> keys, std::vector<FoundTimes>& times)>;

// Checks of one request that carry an impossible ts or ttl.
struct ImpossibleChecks {
  int64_t count = 0;
  size_t first = 0;  // position of the first; valid if count > 0
};

// The times of one judgement.
struct CheckTimes {
  absl::Time judged_at;  // the instant as of which items are judged
  absl::Time now;        // which decides whether a carried state is possible
};

// Judges the checks of a valid request, in order, as of `times.judged_at`. Of the carried and the
// tracked state the one with the later ts counts; at equal ts, the carried one. A check that
// carries an impossible state is VISIBLE and is counted in `impossible`. Where `find` fails, the
// carried state is judged alone; if there is none, the whole call fails with the error of `find`,
// and `answers` is unspecified. In a container with touches, a carried state that would be EXPIRED
// if it were judged alone is UNTRACKED.
absl::Status JudgeChecks(const Container& container, FindItemTimes find, const CheckTimes& times,
                         absl::Span<const Check> checks, CheckAnswers& answers,
                         ImpossibleChecks& impossible);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_CHECKS_VISIBILITY_H_
