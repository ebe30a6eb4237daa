#ifndef TTL_SERVICE_RPC_CHECKS_HELD_ITEMS_H_
#define TTL_SERVICE_RPC_CHECKS_HELD_ITEMS_H_

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "service/core/container.h"
#include "service/core/item.h"
#include "service/rpc/checks/check_answers.h"
#include "service/rpc/checks/check_request.h"
#include "service/storage/holds.h"
#include "ttl/v1/item.pb.h"

// Expired items under a hold, which stay visible in a container with show_held.
namespace ttl {

// How a reader sees an expired item: VISIBLE if the container has show_held and a hold covers the
// item; UNTRACKED if it has show_held and it is not known whether one does, because the holds
// cannot be read or are in doubt; else EXPIRED. Without show_held nothing is looked up.
v1::Visibility JudgeExpired(const Holds& holds, const Container& container, const ItemKey& key);

// Judges the expired ones among the `answers` to `checks` again, by `judge`.
void JudgeExpiredAgain(absl::Span<const Check> checks,
                       absl::FunctionRef<v1::Visibility(const ItemKey&)> judge,
                       CheckAnswers& answers);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_CHECKS_HELD_ITEMS_H_
