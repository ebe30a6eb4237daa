#include "client/ttlctl/text/feed/event_text.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "client/ttlctl/text/feed/gate_text.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/item_text.h"
#include "service/base/time_text.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

constexpr std::array<std::pair<v1::EventKind, absl::string_view>, 8> kWords = {{
    {v1::EVENT_KIND_EXPIRED, "expired"},
    {v1::EVENT_KIND_PURGED, "purged"},
    {v1::EVENT_KIND_GONE, "gone"},
    {v1::EVENT_KIND_REVIVED, "revived"},
    {v1::EVENT_KIND_REPLACED, "replaced"},
    {v1::EVENT_KIND_POLICY_CHANGED, "policy_changed"},
    {v1::EVENT_KIND_RESYNC, "resync"},
    {v1::EVENT_KIND_EXPIRING, "expiring"},
}};

std::string PolicyTtl(bool is_on, int64_t default_ttl) {
  return is_on ? absl::StrCat(default_ttl) : std::string("off");
}

bool IsAboutAnItem(const v1::Event& event) {
  return event.kind() != v1::EVENT_KIND_POLICY_CHANGED && event.kind() != v1::EVENT_KIND_RESYNC;
}

std::string TimesText(const v1::Event& event) {
  const std::string written = absl::StrCat("written ", FormatUnixSeconds(event.ts()));
  if (event.has_expire_time()) {
    const bool is_ahead =
        event.kind() == v1::EVENT_KIND_EXPIRING || event.kind() == v1::EVENT_KIND_REVIVED;
    return absl::StrCat(written, is_ahead ? ", expires " : ", expired ",
                        FormatUnixSeconds(event.expire_time()));
  }
  return event.kind() == v1::EVENT_KIND_REVIVED ? absl::StrCat(written, ", never expires")
                                                : written;
}

// What only some kinds have.
std::vector<std::string> ParticularsOf(const v1::Event& event) {
  std::vector<std::string> parts;
  if (event.kind() == v1::EVENT_KIND_POLICY_CHANGED) {
    parts.push_back(absl::StrCat("default_ttl ",
                                 PolicyTtl(event.has_old_default_ttl(), event.old_default_ttl()),
                                 " -> ", PolicyTtl(event.has_default_ttl(), event.default_ttl())));
  }
  if (event.kind() == v1::EVENT_KIND_RESYNC) parts.push_back("events may be missing before");
  if (IsAboutAnItem(event)) parts.push_back(TimesText(event));
  if (event.kind() == v1::EVENT_KIND_REPLACED) {
    parts.push_back(absl::StrCat("replaced by that of ", FormatUnixSeconds(event.new_ts())));
  }
  if (event.has_lateness()) {
    parts.push_back(absl::StrCat(FormatSpan(ToDuration(event.lateness())), " late"));
  }
  if (event.expired_sequence() != 0) {
    parts.push_back(absl::StrCat("ends ", event.expired_sequence()));
  }
  if (!event.given_up_subscriptions().empty()) {
    parts.push_back(
        absl::StrCat("NOT ACKNOWLEDGED by ", SubscriptionNames(event.given_up_subscriptions())));
  }
  if (event.late()) parts.push_back("announced late");
  if (event.superseded()) parts.push_back("superseded");
  return parts;
}

}  // namespace

const char* const kEventKindWords =
    "expired|purged|gone|revived|replaced|policy_changed|resync|expiring";

std::string EventKindText(v1::EventKind kind) {
  for (const auto& [known, word] : kWords) {
    if (known == kind) return std::string(word);
  }
  return absl::StrCat("kind ", static_cast<int>(kind), " (newer than this ttlctl)");
}

v1::EventKind EventKindOf(absl::string_view word) {
  for (const auto& [kind, known] : kWords) {
    if (known == word) return kind;
  }
  return v1::EVENT_KIND_UNSPECIFIED;
}

std::string EventText(const v1::Event& event) {
  std::vector<std::string> parts = {absl::StrCat(event.sequence()),
                                    TimeText(ToTime(event.event_time())),
                                    EventKindText(event.kind()), OneLine(event.container())};
  if (IsAboutAnItem(event)) parts.push_back(ItemKeyText(event.partition_key(), event.id()));
  return absl::StrCat(absl::StrJoin(parts, "  "), "  ", absl::StrJoin(ParticularsOf(event), "; "),
                      "\n");
}

}  // namespace ttl
