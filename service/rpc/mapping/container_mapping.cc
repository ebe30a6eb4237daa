#include "service/rpc/mapping/container_mapping.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "service/base/error_details.h"
#include "service/base/proto_time.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/base/time_text.h"
#include "service/core/policy_effect.h"
#include "service/rpc/mapping/window_mapping.h"

namespace ttl {
namespace {

IndexingMode ReadIndexingMode(const v1::Container& container) {
  if (container.indexing_mode() == v1::INDEXING_MODE_UNSPECIFIED) return IndexingMode::kConsistent;
  return static_cast<IndexingMode>(container.indexing_mode());
}

absl::StatusOr<int64_t> ReadWholeSeconds(absl::string_view field,
                                         const google::protobuf::Duration& duration, int64_t min,
                                         int64_t max) {
  if (duration.nanos() == 0) return duration.seconds();
  return InvalidField(absl::StrCat("container.", field),
                      absl::StrCat(field, " is ", duration.seconds(), " s and ", duration.nanos(),
                                   " ns: must be whole seconds, ", min, " to ", max, " s"));
}

absl::StatusOr<PolicyBrake> ReadBrake(const v1::PolicyBrake& proto) {
  PolicyBrake brake;
  if (proto.has_max_newly_due_items()) brake.max_newly_due_items = proto.max_newly_due_items();
  if (proto.has_max_newly_due_percent()) {
    brake.max_newly_due_percent = proto.max_newly_due_percent();
  }
  if (proto.has_release_after()) {
    TTL_ASSIGN_OR_RETURN(
        brake.release_after_seconds,
        ReadWholeSeconds("delete_policy.brake.release_after", proto.release_after(),
                         PolicyBrake::kMinReleaseSeconds, PolicyBrake::kMaxReleaseSeconds));
  }
  return brake;
}

absl::Status ReadMaxAge(const v1::FeedSettings& from, FeedSettings& to) {
  to.max_age_seconds = FeedSettings().max_age_seconds;
  if (!from.has_max_age()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(to.max_age_seconds, ReadWholeSeconds("feed.max_age", from.max_age(),
                                                            FeedSettings::kMinMaxAgeSeconds,
                                                            FeedSettings::kMaxMaxAgeSeconds));
  return absl::OkStatus();
}

absl::Status ReadMaxBytes(const v1::FeedSettings& from, FeedSettings& to) {
  to.max_bytes = from.has_max_bytes() ? from.max_bytes() : FeedSettings().max_bytes;
  return absl::OkStatus();
}

absl::Status ReadNotice(const v1::FeedSettings& from, FeedSettings& to) {
  to.notice_seconds.reset();
  if (!from.has_notice()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(to.notice_seconds, ReadWholeSeconds("feed.notice", from.notice(),
                                                           FeedSettings::kMinNoticeSeconds,
                                                           FeedSettings::kMaxNoticeSeconds));
  return absl::OkStatus();
}

absl::Status ReadFeed(const v1::Container& from, ContainerSettings& to) {
  to.feed.reset();
  if (!from.has_feed()) return absl::OkStatus();
  to.feed.emplace();
  TTL_RETURN_IF_ERROR(ReadMaxAge(from.feed(), *to.feed));
  TTL_RETURN_IF_ERROR(ReadMaxBytes(from.feed(), *to.feed));
  return ReadNotice(from.feed(), *to.feed);
}

// Reads one field of the feed, which is switched on if the field is set. A field that is absent
// leaves a feed that is off as it is.
absl::Status ReadFeedField(absl::Status (*read)(const v1::FeedSettings&, FeedSettings&),
                           bool is_set, const v1::Container& from, ContainerSettings& to) {
  if (!to.feed.has_value() && !is_set) return absl::OkStatus();
  if (!to.feed.has_value()) to.feed.emplace();
  return read(from.feed(), *to.feed);
}

// A field that can be set. `read` copies it, or its absence, from a container.
struct Field {
  absl::string_view path;
  absl::Status (*read)(const v1::Container& from, ContainerSettings& to);
};

const Field kFields[] = {
    {"default_ttl",
     [](const v1::Container& from, ContainerSettings& to) {
       to.policy.default_ttl.reset();
       if (from.has_default_ttl()) to.policy.default_ttl = from.default_ttl();
       return absl::OkStatus();
     }},
    {"indexing_mode",
     [](const v1::Container& from, ContainerSettings& to) {
       to.indexing_mode = ReadIndexingMode(from);
       return absl::OkStatus();
     }},
    {"delete_policy.max_deletes_per_second",
     [](const v1::Container& from, ContainerSettings& to) {
       const v1::DeletePolicy& policy = from.delete_policy();
       to.max_deletes_per_second.reset();
       if (policy.has_max_deletes_per_second()) {
         to.max_deletes_per_second = policy.max_deletes_per_second();
       }
       return absl::OkStatus();
     }},
    {"delete_policy.delay",
     [](const v1::Container& from, ContainerSettings& to) -> absl::Status {
       TTL_ASSIGN_OR_RETURN(to.policy.delay_seconds,
                            ReadWholeSeconds("delete_policy.delay", from.delete_policy().delay(), 0,
                                             kMaxDelaySeconds));
       return absl::OkStatus();
     }},
    {"delete_policy.request_units_per_second",
     [](const v1::Container& from, ContainerSettings& to) {
       const v1::DeletePolicy& policy = from.delete_policy();
       to.request_units_per_second.reset();
       if (policy.has_request_units_per_second()) {
         to.request_units_per_second = policy.request_units_per_second();
       }
       return absl::OkStatus();
     }},
    {"delete_policy.request_units_per_delete",
     [](const v1::Container& from, ContainerSettings& to) {
       const v1::DeletePolicy& policy = from.delete_policy();
       to.request_units_per_delete.reset();
       if (policy.has_request_units_per_delete()) {
         to.request_units_per_delete = policy.request_units_per_delete();
       }
       return absl::OkStatus();
     }},
    {"delete_policy.min_deletes_per_second",
     [](const v1::Container& from, ContainerSettings& to) {
       to.min_deletes_per_second = from.delete_policy().min_deletes_per_second();
       return absl::OkStatus();
     }},
    {"delete_policy.brake",
     [](const v1::Container& from, ContainerSettings& to) -> absl::Status {
       to.brake.reset();
       if (!from.delete_policy().has_brake()) return absl::OkStatus();
       TTL_ASSIGN_OR_RETURN(to.brake, ReadBrake(from.delete_policy().brake()));
       return absl::OkStatus();
     }},
    {"delete_policy.windows",
     [](const v1::Container& from, ContainerSettings& to) -> absl::Status {
       to.windows.reset();
       if (!from.delete_policy().has_windows()) return absl::OkStatus();
       TTL_ASSIGN_OR_RETURN(to.windows, ReadWindows(from.delete_policy().windows()));
       return absl::OkStatus();
     }},
    {"show_held",
     [](const v1::Container& from, ContainerSettings& to) {
       to.show_held = from.show_held();
       return absl::OkStatus();
     }},
    {"requires_holds",
     [](const v1::Container& from, ContainerSettings& to) {
       to.requires_holds = from.requires_holds();
       return absl::OkStatus();
     }},
    {"allow_touch",
     [](const v1::Container& from, ContainerSettings& to) {
       to.allow_touch = from.allow_touch();
       return absl::OkStatus();
     }},
    {"feed", ReadFeed},
    {"feed.max_age",
     [](const v1::Container& from, ContainerSettings& to) {
       return ReadFeedField(ReadMaxAge, from.feed().has_max_age(), from, to);
     }},
    {"feed.max_bytes",
     [](const v1::Container& from, ContainerSettings& to) {
       return ReadFeedField(ReadMaxBytes, from.feed().has_max_bytes(), from, to);
     }},
    {"feed.notice",
     [](const v1::Container& from, ContainerSettings& to) {
       return ReadFeedField(ReadNotice, from.feed().has_notice(), from, to);
     }},
};

// Whether a path of a mask covers `field`.
bool Names(absl::string_view path, absl::string_view field) {
  if (path == "*" || path == field) return true;
  return absl::StartsWith(field, path) && field[path.size()] == '.';
}

std::string AllowedPaths() {
  return absl::StrCat(
      absl::StrJoin(kFields, ", ",
                    [](std::string* out, const Field& field) { absl::StrAppend(out, field.path); }),
      ", delete_policy for all of its fields, or \"*\" for everything");
}

absl::Status ReadPath(absl::string_view path, const v1::Container& from, ContainerSettings& to) {
  bool is_known = false;
  for (const Field& field : kFields) {
    if (!Names(path, field.path)) continue;
    is_known = true;
    TTL_RETURN_IF_ERROR(field.read(from, to));
  }
  if (is_known) return absl::OkStatus();
  return InvalidField("update_mask", absl::StrCat("update_mask names ", Quoted(path),
                                                  ": allowed are ", AllowedPaths()));
}

// Fields at their default are not set.
void WriteDeletePolicy(const ContainerSettings& settings, v1::DeletePolicy& policy) {
  if (settings.max_deletes_per_second.has_value()) {
    policy.set_max_deletes_per_second(*settings.max_deletes_per_second);
  }
  if (settings.policy.delay_seconds != 0) {
    *policy.mutable_delay() = ToProto(absl::Seconds(settings.policy.delay_seconds));
  }
  if (settings.request_units_per_second.has_value()) {
    policy.set_request_units_per_second(*settings.request_units_per_second);
  }
  if (settings.request_units_per_delete.has_value()) {
    policy.set_request_units_per_delete(*settings.request_units_per_delete);
  }
  if (settings.min_deletes_per_second != 0) {
    policy.set_min_deletes_per_second(settings.min_deletes_per_second);
  }
  if (settings.windows.has_value()) *policy.mutable_windows() = ToProto(*settings.windows);
  if (!settings.brake.has_value()) return;
  const PolicyBrake& brake = *settings.brake;
  v1::PolicyBrake& proto = *policy.mutable_brake();
  if (brake.max_newly_due_items) proto.set_max_newly_due_items(*brake.max_newly_due_items);
  if (brake.max_newly_due_percent) proto.set_max_newly_due_percent(*brake.max_newly_due_percent);
  *proto.mutable_release_after() = ToProto(absl::Seconds(brake.release_after_seconds));
}

void WriteFeed(const FeedSettings& feed, v1::FeedSettings& proto) {
  *proto.mutable_max_age() = ToProto(absl::Seconds(feed.max_age_seconds));
  proto.set_max_bytes(feed.max_bytes);
  if (feed.notice_seconds.has_value()) {
    *proto.mutable_notice() = ToProto(absl::Seconds(*feed.notice_seconds));
  }
}

template <typename Value>
std::string OrAbsent(const std::optional<Value>& value) {
  return value.has_value() ? absl::StrCat(*value) : "absent";
}

std::string Describe(const std::optional<FeedSettings>& feed) {
  if (!feed.has_value()) return "absent";
  return absl::StrCat("{max_age_seconds=", feed->max_age_seconds, " max_bytes=", feed->max_bytes,
                      " notice_seconds=", OrAbsent(feed->notice_seconds), "}");
}

absl::string_view TrueOrFalse(bool value) { return value ? "true" : "false"; }

std::string Describe(const std::optional<PolicyBrake>& brake) {
  if (!brake.has_value()) return "absent";
  return absl::StrCat("{max_newly_due_items=", OrAbsent(brake->max_newly_due_items),
                      " max_newly_due_percent=", OrAbsent(brake->max_newly_due_percent),
                      " release_after_seconds=", brake->release_after_seconds, "}");
}

}  // namespace

v1::IndexProgress IndexProgressOf(const Container& container) {
  v1::IndexProgress progress;
  if (container.index_build.has_value()) {
    progress.set_state(v1::INDEX_STATE_BUILDING);
    progress.set_percent(container.index_build->percent);
    progress.set_items_indexed(container.index_build->items_indexed);
  } else if (container.index_number == 0) {
    progress.set_state(v1::INDEX_STATE_NONE);
  } else {
    progress.set_state(v1::INDEX_STATE_READY);
    progress.set_percent(100);
  }
  return progress;
}

v1::Container ToProto(const Container& container, bool holds_in_doubt) {
  const ContainerSettings& settings = container.settings;
  v1::Container proto;
  proto.set_id(container.id);
  if (settings.policy.default_ttl.has_value()) {
    proto.set_default_ttl(*settings.policy.default_ttl);
  }
  proto.set_indexing_mode(static_cast<v1::IndexingMode>(settings.indexing_mode));
  v1::DeletePolicy policy;
  WriteDeletePolicy(settings, policy);
  if (policy.ByteSizeLong() > 0) *proto.mutable_delete_policy() = std::move(policy);
  proto.set_etag(ContainerEtag(container));
  *proto.mutable_create_time() = ToProto(container.create_time);
  *proto.mutable_update_time() = ToProto(container.update_time);
  *proto.mutable_index_progress() = IndexProgressOf(container);
  proto.set_show_held(settings.show_held);
  proto.set_requires_holds(settings.requires_holds);
  proto.set_has_holds(container.has_holds || holds_in_doubt || container.feed.has_gates);
  if (settings.feed.has_value()) WriteFeed(*settings.feed, *proto.mutable_feed());
  proto.set_allow_touch(settings.allow_touch);
  proto.set_has_touches(container.has_touches);
  return proto;
}

absl::StatusOr<ContainerSettings> ReadSettings(const v1::Container& container) {
  ContainerSettings settings;
  TTL_RETURN_IF_ERROR(ReadPath("*", container, settings));
  return settings;
}

absl::StatusOr<ContainerUpdate> ReadUpdate(const v1::UpdateContainerRequest& request) {
  ContainerUpdate update = {
      request.container(),
      {request.update_mask().paths().begin(), request.update_mask().paths().end()}};
  if (update.paths.empty()) {
    return InvalidField(
        "update_mask", absl::StrCat("update_mask is empty: name what to change: ", AllowedPaths()));
  }
  ContainerSettings settings;
  for (const std::string& path : update.paths) {
    TTL_RETURN_IF_ERROR(ReadPath(path, update.values, settings));
  }
  return update;
}

absl::StatusOr<ContainerSettings> ApplyUpdate(const ContainerUpdate& update,
                                              const Container& present) {
  const std::string etag = ContainerEtag(present);
  if (!update.values.etag().empty() && update.values.etag() != etag) {
    return MakeError(
        Reason::kEtagMismatch,
        absl::StrCat("container.etag is ", Quoted(update.values.etag()), " and the current one is ",
                     Quoted(etag), ": read the container again"),
        {{"container", present.id}, {"etag", etag}});
  }
  ContainerSettings settings = present.settings;
  for (const std::string& path : update.paths) {
    TTL_RETURN_IF_ERROR(ReadPath(path, update.values, settings));
  }
  return settings;
}

v1::PolicyPreview MakePreview(const TallyView& tally, const Policy& present,
                              const ContainerSettings& next, absl::Time now) {
  const PolicyEffect effect = ComputePolicyEffect(tally, present, next.policy, now);
  v1::PolicyPreview preview;
  preview.set_tracked_items(tally.tracked.items);
  preview.set_newly_expired_items(effect.newly_expired_items);
  preview.set_newly_visible_items(effect.newly_visible_items);
  preview.set_newly_due_items(effect.newly_due_items);
  for (const int64_t items : effect.expiring_per_hour) preview.add_expiring_per_hour(items);
  preview.set_error_bound_items(effect.error_bound_items);
  preview.set_complete(tally.complete);
  preview.set_brake_would_pull(
      next.brake.has_value() &&
      PullsBrake(*next.brake, effect.newly_due_at_most, tally.tracked.items));
  return preview;
}

std::string Describe(const ContainerSettings& settings) {
  return absl::StrCat(
      "{default_ttl=", OrAbsent(settings.policy.default_ttl), " indexing_mode=",
      v1::IndexingMode_Name(static_cast<v1::IndexingMode>(settings.indexing_mode)),
      " max_deletes_per_second=", OrAbsent(settings.max_deletes_per_second),
      " delay_seconds=", settings.policy.delay_seconds,
      " request_units_per_second=", OrAbsent(settings.request_units_per_second),
      " request_units_per_delete=", OrAbsent(settings.request_units_per_delete),
      " min_deletes_per_second=", settings.min_deletes_per_second,
      " brake=", Describe(settings.brake),
      " windows=", settings.windows.has_value() ? Describe(*settings.windows) : "absent",
      " show_held=", TrueOrFalse(settings.show_held),
      " requires_holds=", TrueOrFalse(settings.requires_holds), " feed=", Describe(settings.feed),
      " allow_touch=", TrueOrFalse(settings.allow_touch), "}");
}

std::string DescribePulledBrakes(const Container& container, absl::Time now) {
  std::string text;
  for (const ReplacedPolicy& replaced : container.replaced_policies) {
    if (!replaced.braked_items.has_value() || replaced.until <= now) continue;
    absl::StrAppend(&text, text.empty() ? "" : " ", "{newly_due_items=", *replaced.braked_items,
                    " until=", TimeText(replaced.until), "}");
  }
  return text.empty() ? "none" : text;
}

}  // namespace ttl
