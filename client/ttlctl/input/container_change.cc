#include "client/ttlctl/input/container_change.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/ttlctl/input/windows_text.h"
#include "client/ttlctl/text/container_text.h"
#include "client/ttlctl/text/feed/feed_text.h"
#include "client/ttlctl/text/format.h"
#include "service/rpc/mapping/window_mapping.h"

namespace ttl {
namespace {

std::string NumberOr(bool is_set, double number, absl::string_view word) {
  return is_set ? FormatRate(number) : std::string(word);
}

std::string TrueOrFalse(bool value) { return value ? "true" : "false"; }

std::string BrakeSettings(const v1::DeletePolicy& policy) {
  if (!policy.has_brake()) return "none";
  const v1::PolicyBrake& brake = policy.brake();
  const int64_t release_after = brake.has_release_after() ? brake.release_after().seconds()
                                                          : PolicyBrake::kDefaultReleaseSeconds;
  const std::string items = brake.has_max_newly_due_items()
                                ? absl::StrCat(brake.max_newly_due_items())
                                : std::string("none");
  const std::string percent =
      NumberOr(brake.has_max_newly_due_percent(), brake.max_newly_due_percent(), "none");
  return absl::StrCat("{items ", items, ", percent ", percent, ", release after ", release_after,
                      "s}");
}

std::string WindowSettings(const v1::DeletePolicy& policy) {
  if (!policy.has_windows()) return "none";
  const v1::DeleteWindows& windows = policy.windows();
  return absl::StrCat("{", WindowsText(windows), ", time zone ",
                      windows.time_zone().empty() ? "UTC" : windows.time_zone(), ", outside ",
                      FormatRate(windows.max_deletes_per_second_outside()), "/s}");
}

// A field that an owner can set, and the text of its value; values have equal texts only if they
// mean the same.
struct Field {
  const char* path;
  std::string (*text)(const v1::Container& container);
};

const Field kFields[] = {
    {"default_ttl",
     [](const v1::Container& c) {
       return c.has_default_ttl() ? absl::StrCat(c.default_ttl()) : std::string("off");
     }},
    {"indexing_mode",
     [](const v1::Container& c) {
       return IndexingModeText(c.indexing_mode() == v1::INDEXING_MODE_UNSPECIFIED
                                   ? v1::INDEXING_MODE_CONSISTENT
                                   : c.indexing_mode());
     }},
    {"delete_policy.max_deletes_per_second",
     [](const v1::Container& c) {
       const v1::DeletePolicy& policy = c.delete_policy();
       return NumberOr(policy.has_max_deletes_per_second(), policy.max_deletes_per_second(),
                       "default");
     }},
    {"delete_policy.delay",
     [](const v1::Container& c) { return absl::StrCat(c.delete_policy().delay().seconds(), "s"); }},
    {"delete_policy.request_units_per_second",
     [](const v1::Container& c) {
       const v1::DeletePolicy& policy = c.delete_policy();
       return NumberOr(policy.has_request_units_per_second(), policy.request_units_per_second(),
                       "none");
     }},
    {"delete_policy.request_units_per_delete",
     [](const v1::Container& c) {
       const v1::DeletePolicy& policy = c.delete_policy();
       return NumberOr(policy.has_request_units_per_delete(), policy.request_units_per_delete(),
                       "none");
     }},
    {"delete_policy.min_deletes_per_second",
     [](const v1::Container& c) { return FormatRate(c.delete_policy().min_deletes_per_second()); }},
    {"delete_policy.brake",
     [](const v1::Container& c) { return BrakeSettings(c.delete_policy()); }},
    {"delete_policy.windows",
     [](const v1::Container& c) { return WindowSettings(c.delete_policy()); }},
    {"show_held", [](const v1::Container& c) { return TrueOrFalse(c.show_held()); }},
    {"requires_holds", [](const v1::Container& c) { return TrueOrFalse(c.requires_holds()); }},
    {"allow_touch", [](const v1::Container& c) { return TrueOrFalse(c.allow_touch()); }},
    {"feed",
     [](const v1::Container& c) {
       return c.has_feed() ? ExactFeedSettings(c.feed()) : std::string("off");
     }},
};

v1::PolicyBrake ToProto(const PolicyBrake& brake) {
  v1::PolicyBrake proto;
  if (brake.max_newly_due_items) proto.set_max_newly_due_items(*brake.max_newly_due_items);
  if (brake.max_newly_due_percent) proto.set_max_newly_due_percent(*brake.max_newly_due_percent);
  proto.mutable_release_after()->set_seconds(brake.release_after_seconds);
  return proto;
}

v1::FeedSettings ToProto(const FeedSettings& feed) {
  v1::FeedSettings proto;
  proto.mutable_max_age()->set_seconds(feed.max_age_seconds);
  proto.set_max_bytes(feed.max_bytes);
  if (feed.notice_seconds) proto.mutable_notice()->set_seconds(*feed.notice_seconds);
  return proto;
}

// Omits settings at their default.
v1::DeletePolicy DeletePolicyOf(const ContainerSettings& settings) {
  v1::DeletePolicy policy;
  if (settings.max_deletes_per_second) {
    policy.set_max_deletes_per_second(*settings.max_deletes_per_second);
  }
  if (settings.policy.delay_seconds != 0) {
    policy.mutable_delay()->set_seconds(settings.policy.delay_seconds);
  }
  if (settings.request_units_per_second) {
    policy.set_request_units_per_second(*settings.request_units_per_second);
  }
  if (settings.request_units_per_delete) {
    policy.set_request_units_per_delete(*settings.request_units_per_delete);
  }
  if (settings.min_deletes_per_second != 0) {
    policy.set_min_deletes_per_second(settings.min_deletes_per_second);
  }
  if (settings.brake) *policy.mutable_brake() = ToProto(*settings.brake);
  if (settings.windows) *policy.mutable_windows() = ToProto(*settings.windows);
  return policy;
}

v1::IndexingMode ToProto(IndexingMode mode) {
  switch (mode) {
    case IndexingMode::kConsistent:
      return v1::INDEXING_MODE_CONSISTENT;
    case IndexingMode::kLazy:
      return v1::INDEXING_MODE_LAZY;
    case IndexingMode::kNone:
      return v1::INDEXING_MODE_NONE;
  }
  return v1::INDEXING_MODE_CONSISTENT;
}

}  // namespace

v1::Container ContainerOf(const ContainerEntry& entry) {
  v1::Container container;
  container.set_id(entry.id);
  if (entry.settings.policy.default_ttl) {
    container.set_default_ttl(*entry.settings.policy.default_ttl);
  }
  container.set_indexing_mode(ToProto(entry.settings.indexing_mode));
  *container.mutable_delete_policy() = DeletePolicyOf(entry.settings);
  container.set_show_held(entry.settings.show_held);
  container.set_requires_holds(entry.settings.requires_holds);
  container.set_allow_touch(entry.settings.allow_touch);
  if (entry.settings.feed) *container.mutable_feed() = ToProto(*entry.settings.feed);
  return container;
}

std::vector<FieldChange> Differences(const v1::Container& present, const v1::Container& wanted) {
  std::vector<FieldChange> changes;
  for (const Field& field : kFields) {
    std::string from = field.text(present);
    std::string to = field.text(wanted);
    if (from != to) changes.push_back({field.path, std::move(from), std::move(to)});
  }
  return changes;
}

std::string ChangesText(const std::vector<FieldChange>& changes) {
  return absl::StrJoin(changes, ", ", [](std::string* out, const FieldChange& change) {
    absl::StrAppend(out, change.path, " ", change.from, " -> ", change.to);
  });
}

}  // namespace ttl
