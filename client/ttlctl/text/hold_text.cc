#include "client/ttlctl/text/hold_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ttlctl/text/shell_word.h"
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
      return "change in progress";
    case v1::DELETE_HOLD_INDEX_BUILDING:
      return "index is being built";
    case v1::DELETE_HOLD_NO_STORE:
      return "no store configured";
    case v1::DELETE_HOLD_BUDGET:
      return "no request units left for deletes";
    case v1::DELETE_HOLD_BRAKE:
      return "brake: a policy change or an adoption waits for confirmation";
    case v1::DELETE_HOLD_STORE_UNCONFIRMED:
      return "store not confirmed";
    case v1::DELETE_HOLD_PUSH_BACK:
      return "the store pushes back";
    case v1::DELETE_HOLD_BACKOFF:
      return "delay after failed calls, or as the store asked";
    case v1::DELETE_HOLD_DATA_IN_DOUBT:
      return "the tracked items may be incomplete";
    case v1::DELETE_HOLD_RETRY:
      return "failed items wait for their retry";
    case v1::DELETE_HOLD_HELD:
      return "held";
    case v1::DELETE_HOLD_HOLDS_IN_DOUBT:
      return "holds may be missing";
    case v1::DELETE_HOLD_WINDOW:
      return "outside of windows";
    case v1::DELETE_HOLD_GATE:
      return "items wait for a subscription";
    default:
      return absl::StrCat("reason ", hold, " (newer than this ttlctl)");
  }
}

}  // namespace

bool AreHoldsInDoubt(const google::protobuf::RepeatedField<int>& holds) {
  return std::find(holds.begin(), holds.end(), v1::DELETE_HOLD_HOLDS_IN_DOUBT) != holds.end();
}

std::string HoldsInDoubtText(absl::string_view container) {
  return absl::StrCat(
      "nothing is deleted until they are complete and accepted: ttlctl holds apply FILE, or\n"
      "ttlctl holds accept ",
      IdArguments({container}));
}

std::string HoldsText(const google::protobuf::RepeatedField<int>& holds) {
  if (holds.empty()) return "nothing";
  return absl::StrJoin(holds, ", ", [](std::string* text, int hold) { *text += HoldText(hold); });
}

}  // namespace ttl
