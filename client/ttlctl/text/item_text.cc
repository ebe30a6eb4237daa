#include "client/ttlctl/text/item_text.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/input/key_text.h"
#include "client/ttlctl/text/feed/gate_text.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/hold_text.h"
#include "client/ttlctl/text/holds/placed_hold_text.h"
#include "service/base/time_text.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

std::string SourceText(v1::TtlSource source) {
  switch (source) {
    case v1::TTL_SOURCE_ITEM:
      return "the item's own";
    case v1::TTL_SOURCE_CONTAINER:
      return "the container's default";
    default:
      return "unknown source";
  }
}

std::string EffectiveTtlText(const v1::ItemView& view) {
  if (view.ttl_source() == v1::TTL_SOURCE_ITEM_EXPIRE_AT) return "none: expire_at counts";
  if (!view.has_effective_ttl()) return "none: never expires";
  return absl::StrCat(view.effective_ttl(), " s (", SourceText(view.ttl_source()), ")");
}

std::string ExpiresText(const v1::ItemView& view) {
  return view.has_expire_time() ? FormatUnixSeconds(view.expire_time()) : "never";
}

std::string RemainingText(const v1::ItemView& view) {
  if (view.expired()) return "expired";
  if (!view.has_remaining_seconds()) return "-";
  return FormatSpan(absl::Seconds(view.remaining_seconds()));
}

std::string OwnTtlText(const v1::Item& item) {
  return item.has_ttl() ? absl::StrCat(item.ttl()) : "-";
}

// For a table: the item's own ttl, and whether it has an expire_at too, which EXPIRES follows from.
std::string OwnLifetimeText(const v1::Item& item) {
  if (!item.has_expire_at()) return OwnTtlText(item);
  return item.has_ttl() ? absl::StrCat(item.ttl(), ", expire_at") : "expire_at";
}

std::string TouchResultText(v1::TouchResult result) {
  switch (result) {
    case v1::TOUCH_RESULT_TOUCHED:
      return "touched";
    case v1::TOUCH_RESULT_RECENT:
      return "recent: not touched";
    case v1::TOUCH_RESULT_EXPIRED:
      return "expired: not touched";
    case v1::TOUCH_RESULT_NOT_TRACKED:
      return "not tracked";
    default:
      return absl::StrCat("result ", static_cast<int>(result), " (newer than this ttlctl)");
  }
}

// When the item ends after a touch.
std::string TouchedUntilText(const TouchAnswer& answer) {
  if (answer.expire_time.has_value()) return FormatUnixSeconds(*answer.expire_time);
  const bool is_live =
      answer.result == v1::TOUCH_RESULT_TOUCHED || answer.result == v1::TOUCH_RESULT_RECENT;
  return is_live ? "never" : "-";
}

// For whom the item waits, and where to see why.
std::string WaitingForText(absl::string_view container, const v1::ExplainItemResponse& response) {
  return absl::StrCat(SubscriptionNames(response.waiting_for()),
                      response.expired_sequence() != 0
                          ? absl::StrCat(" to acknowledge sequence ", response.expired_sequence())
                          : std::string(" to acknowledge its expiry, which is not logged yet"),
                      "\n", SubscriptionsCommand(container));
}

std::string InstantWithUnixSeconds(int64_t seconds) {
  return absl::StrCat(FormatUnixSeconds(seconds), " (", seconds, ")");
}

}  // namespace

absl::string_view VisibilityText(v1::Visibility visibility) {
  switch (visibility) {
    case v1::VISIBILITY_EXPIRED:
      return "expired";
    case v1::VISIBILITY_UNTRACKED:
      return "untracked";
    default:
      return "visible";
  }
}

std::string ItemKeyText(absl::string_view partition_key, absl::string_view id) {
  std::string id_text = id.empty() ? "\"\"" : KeyToText(id);
  if (partition_key.empty()) return id_text;
  return absl::StrCat(KeyToText(partition_key), " / ", id_text);
}

std::string AnswersText(const std::vector<v1::VisibilityCheck>& checks,
                        const std::vector<VisibilityAnswer>& answers) {
  Table table({"ITEM", "ANSWER", "EXPIRES", "JUDGED AT"});
  for (size_t i = 0; i < checks.size(); ++i) {
    const VisibilityAnswer& answer = answers[i];
    table.AddRow({ItemKeyText(checks[i].partition_key(), checks[i].id()),
                  std::string(VisibilityText(answer.visibility)),
                  answer.expire_time.has_value() ? FormatUnixSeconds(*answer.expire_time) : "-",
                  TimeText(answer.judged_at)});
  }
  return table.Render();
}

std::string TouchesText(const std::vector<v1::ItemKey>& keys,
                        const std::vector<TouchAnswer>& answers) {
  Table table({"ITEM", "RESULT", "EXPIRES"});
  for (size_t i = 0; i < keys.size(); ++i) {
    table.AddRow({ItemKeyText(keys[i].partition_key(), keys[i].id()),
                  TouchResultText(answers[i].result), TouchedUntilText(answers[i])});
  }
  return table.Render();
}

Table ItemTable() { return Table({"ITEM", "OWN TTL", "EXPIRES", "REMAINING"}); }

void AddItemRow(const v1::ItemView& view, Table& table) {
  const v1::Item& item = view.item();
  table.AddRow({ItemKeyText(item.partition_key(), item.id()), OwnLifetimeText(item),
                ExpiresText(view), RemainingText(view)});
}

std::string ExplanationText(absl::string_view container, const v1::ExplainItemResponse& response) {
  const v1::ItemView& view = response.item();
  const v1::Item& item = view.item();
  std::vector<std::pair<std::string, std::string>> fields = {
      {"item", ItemKeyText(item.partition_key(), item.id())},
      {"state", view.expired() ? "expired" : "visible"},
      {"written", InstantWithUnixSeconds(item.ts())},
      {"own ttl", OwnTtlText(item)},
      {"expire_at", item.has_expire_at() ? InstantWithUnixSeconds(item.expire_at()) : "-"},
      {"effective ttl", EffectiveTtlText(view)},
      {"expires", view.has_expire_time() ? InstantWithUnixSeconds(view.expire_time()) : "never"},
      {"judged at", TimeText(ToTime(response.judged_at()))}};
  if (view.has_touch_time()) {
    fields.emplace_back("touched", InstantWithUnixSeconds(view.touch_time()));
  }
  if (view.has_remaining_seconds() && !view.expired()) {
    fields.emplace_back("remaining", RemainingText(view));
  }
  if (!item.etag().empty()) fields.emplace_back("etag", KeyToText(item.etag()));
  if (item.has_sequence()) fields.emplace_back("sequence", absl::StrCat(item.sequence()));
  if (item.size_bytes() != 0)
    fields.emplace_back("size", absl::StrCat(item.size_bytes(), " bytes"));
  if (response.expired_sequence() != 0) {
    fields.emplace_back("announced",
                        absl::StrCat("as expired, sequence ", response.expired_sequence()));
  }
  if (response.has_due_time()) {
    fields.emplace_back("may be deleted", FormatUnixSeconds(response.due_time()));
  }
  if (response.holds_size() > 0) fields.emplace_back("held back by", HoldsText(response.holds()));
  if (response.waiting_for_size() > 0) {
    fields.emplace_back("waits for", WaitingForText(container, response));
  }
  if (response.item_holds_size() > 0) fields.emplace_back("holds", ItemHoldsText(response));
  if (AreHoldsInDoubt(response.holds())) {
    fields.emplace_back("holds in doubt", HoldsInDoubtText(container));
  }
  if (response.attempts() > 0) {
    fields.emplace_back("failed tries",
                        absl::StrCat(response.attempts(), ", last: ", response.last_error()));
  }
  fields.emplace_back("why", response.explanation());
  return FormatFields(fields);
}

}  // namespace ttl
