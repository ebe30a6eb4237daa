#include "client/ttlctl/text/hold_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {
namespace {

std::string HoldText(int hold) {
  switch (hold) {
    case v1::DELETE_HOLD_TTL_OFF:
      return "ttl is off";
    case v1::DELETE_HOLD_CONTAINER_PAUSED:
      return "paused";
    case v1::DELETE_HOLD_ALL_PAUSED:
      return "all paused";
    case v1::DELETE_HOLD_ZERO_RATE:
      return "rate is 0";
    case v1::DELETE_HOLD_RATE:
      return "rate limit";
    case v1::DELETE_HOLD_CLOCK_SUSPECT:
      return "clock is suspect";
    case v1::DELETE_HOLD_STORE:
      return "store";
    case v1::DELETE_HOLD_CLOCK_SKEW:
      return "clock skew to the store";
    case v1::DELETE_HOLD_GRACE:
      return "grace of a stricter policy or of adopted items";
    case v1::DELETE_HOLD_STORAGE:
      return "storage refuses writes";
    case v1::DELETE_HOLD_CHANGE_UNDER_WAY:
      return "change under way";
    case v1::DELETE_HOLD_INDEX_BUILDING:
      return "index is being built";
    case v1::DELETE_HOLD_NO_STORE:
      return "no store configured";
    case v1::DELETE_HOLD_BUDGET:
      return "requests leave no throughput over";
    case v1::DELETE_HOLD_BRAKE:
      return "brake: a change of policy or an adoption is to be confirmed";
    case v1::DELETE_HOLD_STORE_UNCONFIRMED:
      return "the store is to be confirmed";
    case v1::DELETE_HOLD_PUSH_BACK:
      return "the store pushes back";
    case v1::DELETE_HOLD_BACKOFF:
      return "wait after failed calls, or at the store's wish";
    case v1::DELETE_HOLD_DATA_IN_DOUBT:
      return "what is tracked may not be whole";
    case v1::DELETE_HOLD_RETRY:
      return "failed items wait for their next try";
    default:
      return absl::StrCat("reason ", hold, " (newer than this ttlctl)");
  }
}

}  // namespace

std::string HoldsText(const google::protobuf::RepeatedField<int>& holds) {
  if (holds.empty()) return "nothing";
  return absl::StrJoin(holds, ", ", [](std::string* text, int hold) { *text += HoldText(hold); });
}

}  // namespace ttl
