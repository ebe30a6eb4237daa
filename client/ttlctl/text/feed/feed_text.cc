#include "client/ttlctl/text/feed/feed_text.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ttlctl/input/duration_text.h"
#include "client/ttlctl/text/feed/event_text.h"
#include "client/ttlctl/text/feed/gate_text.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/shell_word.h"
#include "service/base/time_text.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

constexpr int64_t kDefaultMaxAgeSeconds = 86400;
constexpr int64_t kDefaultMaxBytes = int64_t{1} << 30;

int64_t MaxAgeOf(const v1::FeedSettings& settings) {
  return settings.has_max_age() ? settings.max_age().seconds() : kDefaultMaxAgeSeconds;
}

int64_t MaxBytesOf(const v1::FeedSettings& settings) {
  return settings.has_max_bytes() ? settings.max_bytes() : kDefaultMaxBytes;
}

std::string KindsText(const v1::Subscription& subscription) {
  if (subscription.kinds().empty()) return "all";
  return absl::StrJoin(subscription.kinds(), ", ", [](std::string* text, int kind) {
    *text += EventKindText(static_cast<v1::EventKind>(kind));
  });
}

std::string OldestText(const v1::Subscription& subscription) {
  if (!subscription.has_oldest_unacknowledged_time()) return "none";
  return TimeText(ToTime(subscription.oldest_unacknowledged_time()));
}

std::string LostEventsText(const v1::Subscription& subscription) {
  const std::string text = "EVENTS WERE DROPPED that it had not acknowledged.";
  if (subscription.gate()) {
    return absl::StrCat(text, " Their items are\nannounced again before they are deleted");
  }
  return absl::StrCat(text, " Compare with the store, then\nttlctl subscriptions acknowledge ",
                      IdArguments({subscription.container(), subscription.name()}),
                      " LAST_SEQUENCE, as it was before");
}

std::string SizeText(const v1::FeedStatus& feed) {
  return absl::StrCat(feed.is_lower_bound() ? "at least " : "", FormatCount(feed.events()),
                      " events of ", FormatCount(feed.bytes()), " bytes");
}

std::string ProgressOf(const v1::FeedStatus& feed) {
  if (!feed.stall_reason().empty()) {
    return absl::StrCat("no expiries are logged now: ", feed.stall_reason());
  }
  if (!feed.has_watermark()) return "it is not known yet up to when expiries were announced";
  return absl::StrCat("all expiries up to ", TimeText(ToTime(feed.watermark())), " were announced");
}

std::string SubscriptionLine(const v1::SubscriptionStatus& subscription) {
  std::string text =
      absl::StrCat(OneLine(subscription.name()), subscription.gate() ? " (gate): " : ": ",
                   subscription.is_lower_bound() ? "at least " : "",
                   FormatCount(subscription.unacknowledged_events()), " events to acknowledge");
  if (subscription.has_oldest_unacknowledged_time()) {
    absl::StrAppend(&text, ", the oldest of ",
                    TimeText(ToTime(subscription.oldest_unacknowledged_time())));
  }
  absl::StrAppend(&text, ", ", FormatCount(subscription.streams()),
                  subscription.streams() == 1 ? " stream" : " streams");
  if (subscription.has_lost_events()) absl::StrAppend(&text, "; EVENTS WERE DROPPED");
  if (subscription.given_up_sequence() != 0 && subscription.unacknowledged_events() != 0) {
    absl::StrAppend(&text, "; ", NoLongerWaitText(subscription.given_up_sequence()));
  }
  return text;
}

}  // namespace

std::string FeedSettingsText(const v1::FeedSettings& settings) {
  std::string text = absl::StrCat("events are kept for ",
                                  TextFromSeconds(std::max<int64_t>(MaxAgeOf(settings), 0)),
                                  " and up to ", FormatCount(MaxBytesOf(settings)), " bytes");
  if (settings.has_notice()) {
    absl::StrAppend(&text, "; notice ", FormatSpan(ToDuration(settings.notice())),
                    " before the expiry");
  }
  return text;
}

std::string ExactFeedSettings(const v1::FeedSettings& settings) {
  const std::string notice =
      settings.has_notice() ? absl::StrCat(settings.notice().seconds(), "s") : std::string("none");
  return absl::StrCat("{max age ", MaxAgeOf(settings), "s, max bytes ", MaxBytesOf(settings),
                      ", notice ", notice, "}");
}

std::string FeedStatusText(const v1::FeedStatus& feed) {
  std::string text =
      absl::StrCat(ProgressOf(feed), "\n", SizeText(feed), ", last sequence ", feed.last_sequence(),
                   "; announced as expired and still stored: ", FormatCount(feed.expired_items()));
  if (feed.has_oldest_event_time()) {
    absl::StrAppend(&text, "\noldest event of ", TimeText(ToTime(feed.oldest_event_time())));
  }
  for (const v1::SubscriptionStatus& subscription : feed.subscriptions()) {
    absl::StrAppend(&text, "\n", SubscriptionLine(subscription));
  }
  return text;
}

std::string SubscriptionText(const v1::Subscription& subscription) {
  std::vector<std::pair<std::string, std::string>> fields = {
      {"subscription", OneLine(subscription.name())},
      {"container", subscription.container()},
      {"kinds", KindsText(subscription)},
      {"consumer",
       subscription.consumer().empty() ? "any with the role" : OneLine(subscription.consumer())},
      {"acknowledged", absl::StrCat("sequence ", subscription.acknowledged_sequence())},
      {"last event", absl::StrCat("sequence ", subscription.last_sequence())},
      {"oldest to do", OldestText(subscription)},
      {"streams", FormatCount(subscription.streams())},
      {"epoch", absl::StrCat(subscription.epoch())},
      {"created", TimeText(ToTime(subscription.create_time()))}};
  if (subscription.gate()) fields.emplace_back("gate", GateText(subscription));
  if (subscription.has_lost_events()) {
    fields.emplace_back("lost", LostEventsText(subscription));
  }
  return FormatFields(fields);
}

Table SubscriptionTable() {
  return Table(
      {"CONTAINER / SUBSCRIPTION", "ACKNOWLEDGED", "LAST", "STREAMS", "GATE", "OLDEST TO DO"});
}

void AddSubscriptionRow(const v1::Subscription& subscription, Table& table) {
  table.AddRow({absl::StrCat(subscription.container(), " / ", subscription.name()),
                absl::StrCat(subscription.acknowledged_sequence()),
                absl::StrCat(subscription.last_sequence()), FormatCount(subscription.streams()),
                BriefGate(subscription),
                absl::StrCat(OldestText(subscription),
                             subscription.has_lost_events() ? "; EVENTS WERE DROPPED" : "",
                             IsGivenUp(subscription) ? "; GIVEN UP" : "")});
}

}  // namespace ttl
