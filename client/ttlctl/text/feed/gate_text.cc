#include "client/ttlctl/text/feed/gate_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ttlctl/input/duration_text.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/shell_word.h"

namespace ttl {
namespace {

std::string GiveUpText(const v1::Subscription& subscription) {
  return TextFromSeconds(std::max<int64_t>(subscription.give_up_after().seconds(), 0));
}

}  // namespace

std::string SubscriptionNames(const google::protobuf::RepeatedPtrField<std::string>& names) {
  return absl::StrJoin(names, ", ",
                       [](std::string* text, const std::string& name) { *text += OneLine(name); });
}

std::string SubscriptionsCommand(absl::string_view container) {
  return absl::StrCat("ttlctl subscriptions list ", IdArguments({container}));
}

std::string GateText(const v1::Subscription& subscription) {
  std::string text = "each item is deleted only after its expiry was acknowledged";
  if (subscription.has_give_up_after()) {
    absl::StrAppend(&text, "\nor it has waited for ", GiveUpText(subscription),
                    " while the sidecar ran");
  }
  if (IsGivenUp(subscription)) {
    absl::StrAppend(&text, "\n", NoLongerWaitText(subscription.given_up_sequence()));
  }
  return text;
}

std::string BriefGate(const v1::Subscription& subscription) {
  if (!subscription.gate()) return "-";
  return subscription.has_give_up_after() ? GiveUpText(subscription) : "yes";
}

bool IsGivenUp(const v1::Subscription& subscription) {
  return subscription.given_up_sequence() > subscription.acknowledged_sequence();
}

std::string NoLongerWaitText(uint64_t given_up_sequence) {
  return absl::StrCat("ITEMS UP TO SEQUENCE ", given_up_sequence, " NO LONGER WAIT FOR IT");
}

bool HasGateTrouble(const v1::FeedStatus& feed) {
  return feed.gated_items() != 0 || feed.is_full();
}

std::string GateTroubleText(absl::string_view container, const v1::FeedStatus& feed) {
  std::string text;
  if (feed.is_full()) {
    text =
        "THE LOG IS FULL: no further expiry is announced, so nothing more is deleted, until a\n"
        "gate acknowledges or its give_up_after is over\n";
  }
  if (feed.gated_items() != 0) {
    absl::StrAppend(&text, FormatCount(feed.gated_items()), " due items wait for ",
                    SubscriptionNames(feed.waiting_for()), " to acknowledge\n");
  }
  return absl::StrCat(text, SubscriptionsCommand(container), " shows how far they are");
}

}  // namespace ttl
