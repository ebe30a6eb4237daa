#include "service/server/config/containers_file.h"

#include <spdlog/spdlog.h>

#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "service/base/done.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/reason.h"
#include "service/base/small_file.h"
#include "service/base/status_macros.h"
#include "service/core/windows/window_text.h"

namespace ttl {
namespace {

constexpr size_t kMaxContainersFileBytes = size_t{64} << 20;

absl::string_view Name(IndexingMode mode) {
  switch (mode) {
    case IndexingMode::kConsistent:
      return "CONSISTENT";
    case IndexingMode::kLazy:
      return "LAZY";
    case IndexingMode::kNone:
      return "NONE";
  }
  return "CONSISTENT";
}

// Adds the normal form of `windows`.
void AddWindows(const DeleteWindows& windows, std::vector<std::string>& parts) {
  for (const DeleteWindow& window : windows.windows) {
    parts.push_back(absl::StrCat("window=", absl::StrJoin(DayNames(window.days), ","), "@",
                                 TimeOfDayText(window.start), "-", TimeOfDayText(window.end)));
    if (window.max_deletes_per_second.has_value()) {
      absl::StrAppendFormat(&parts.back(), "@%.17g", *window.max_deletes_per_second);
    }
  }
  if (!windows.time_zone.empty()) {
    parts.push_back(absl::StrCat("windows.time_zone=", windows.time_zone));
  }
  if (windows.max_deletes_per_second_outside != 0) {
    parts.push_back(absl::StrFormat("windows.max_deletes_per_second_outside=%.17g",
                                    windows.max_deletes_per_second_outside));
  }
}

// Applies one entry. Returns the outcome, for the log.
absl::StatusOr<absl::string_view> ApplyEntry(const ContainerEntry& entry, bool was_applied_before,
                                             Containers& containers, absl::Time now,
                                             absl::Duration grace) {
  using Changed = absl::StatusOr<ContainerPtr>;
  const ContainerPtr present = containers.Find(entry.id);
  if (present == nullptr) {
    TTL_RETURN_IF_ERROR(Await<Changed>([&](auto done) {
                          containers.Create(entry.id, entry.settings, now, std::move(done));
                        }).status());
    return was_applied_before ? "created again" : "created";
  }
  if (present->settings == entry.settings) return "already so";
  const auto set_all = [&](const Container&) {
    return absl::StatusOr<ContainerSettings>(entry.settings);
  };
  TTL_RETURN_IF_ERROR(Await<Changed>([&](auto done) {
                        containers.Update(entry.id, set_all, now, grace, /*force=*/false,
                                          std::move(done));
                      }).status());
  return "changed";
}

absl::Status ApplyIfChanged(const ContainerEntry& entry, Storage& storage, absl::Time now,
                            absl::Duration grace) {
  const std::string form = NormalForm(entry);
  TTL_ASSIGN_OR_RETURN(const std::optional<std::string> applied,
                       storage.sidecar_state().LoadAppliedEntry(entry.id));
  if (applied == form) {
    if (storage.containers().Find(entry.id) == nullptr) {
      spdlog::warn(
          "container of the containers file was deleted by a call and is not created again: "
          "container={}",
          Quoted(entry.id, kMaxContainerIdBytes));
    }
    return absl::OkStatus();
  }
  TTL_ASSIGN_OR_RETURN(const absl::string_view outcome,
                       ApplyEntry(entry, applied.has_value(), storage.containers(), now, grace));
  TTL_RETURN_IF_ERROR(Await<absl::Status>([&](auto done) {
    storage.sidecar_state().SaveAppliedEntry(entry.id, form, std::move(done));
  }));
  spdlog::info("entry of the containers file applied: container={} outcome={} settings={}",
               Quoted(entry.id, kMaxContainerIdBytes), Quoted(outcome), Quoted(form, 256));
  return absl::OkStatus();
}

// Whether holds or subscriptions stand in the way. Such an entry must not keep the sidecar from
// starting: while it does not run, nobody can release or delete them.
bool IsRefusedByWhatStands(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason == EntryOf(Reason::kHoldsStand).name ||
         reason == EntryOf(Reason::kSubscriptionsExist).name;
}

void AddFeed(const FeedSettings& feed, std::vector<std::string>& parts) {
  parts.push_back("feed=true");
  if (feed.max_age_seconds != FeedSettings().max_age_seconds) {
    parts.push_back(absl::StrCat("feed.max_age_seconds=", feed.max_age_seconds));
  }
  if (feed.max_bytes != FeedSettings().max_bytes) {
    parts.push_back(absl::StrCat("feed.max_bytes=", feed.max_bytes));
  }
  if (feed.notice_seconds.has_value()) {
    parts.push_back(absl::StrCat("feed.notice_seconds=", *feed.notice_seconds));
  }
}

}  // namespace

absl::StatusOr<std::vector<ContainerEntry>> ReadContainersFile(const std::string& path) {
  const absl::StatusOr<std::string> text =
      ReadSmallFile(path, {.max_bytes = kMaxContainersFileBytes});
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--containers: ", text.status().message()));
  }
  return ParseContainers(path, *text);
}

std::string NormalForm(const ContainerEntry& entry) {
  // Defaults are omitted, so that a setting added later does not change existing forms.
  const ContainerSettings& settings = entry.settings;
  std::vector<std::string> parts;
  const auto add_number = [&parts](absl::string_view name, std::optional<double> number) {
    if (number.has_value()) parts.push_back(absl::StrFormat("%s=%.17g", name, *number));
  };
  if (settings.policy.default_ttl.has_value()) {
    parts.push_back(absl::StrCat("default_ttl=", *settings.policy.default_ttl));
  }
  if (settings.indexing_mode != IndexingMode::kConsistent) {
    parts.push_back(absl::StrCat("indexing_mode=", Name(settings.indexing_mode)));
  }
  add_number("max_deletes_per_second", settings.max_deletes_per_second);
  if (settings.policy.delay_seconds != 0) {
    parts.push_back(absl::StrCat("delay_seconds=", settings.policy.delay_seconds));
  }
  add_number("request_units_per_second", settings.request_units_per_second);
  add_number("request_units_per_delete", settings.request_units_per_delete);
  if (settings.min_deletes_per_second != 0) {
    add_number("min_deletes_per_second", settings.min_deletes_per_second);
  }
  if (const std::optional<PolicyBrake>& brake = settings.brake; brake.has_value()) {
    if (brake->max_newly_due_items.has_value()) {
      parts.push_back(absl::StrCat("brake.max_newly_due_items=", *brake->max_newly_due_items));
    }
    add_number("brake.max_newly_due_percent", brake->max_newly_due_percent);
    if (brake->release_after_seconds != PolicyBrake::kDefaultReleaseSeconds) {
      parts.push_back(absl::StrCat("brake.release_after_seconds=", brake->release_after_seconds));
    }
  }
  if (settings.windows.has_value()) AddWindows(*settings.windows, parts);
  if (settings.show_held) parts.push_back("show_held=true");
  if (settings.requires_holds) parts.push_back("holds=true");
  if (settings.feed.has_value()) AddFeed(*settings.feed, parts);
  if (settings.allow_touch) parts.push_back("allow_touch=true");
  return absl::StrJoin(parts, " ");
}

absl::Status ApplyContainers(const std::vector<ContainerEntry>& entries, Storage& storage,
                             absl::Time now, absl::Duration grace) {
  for (const ContainerEntry& entry : entries) {
    const absl::Status applied = ApplyIfChanged(entry, storage, now, grace);
    if (IsRefusedByWhatStands(applied)) {
      spdlog::error("entry of the containers file is not applied: container={} reason={}",
                    Quoted(entry.id, kMaxContainerIdBytes), Quoted(TextOf(applied)));
      continue;
    }
    if (!applied.ok()) {
      return absl::Status(applied.code(),
                          absl::StrCat("container \"", absl::Utf8SafeCEscape(entry.id),
                                       "\" of the containers file: ", applied.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace ttl
