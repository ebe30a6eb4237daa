#include "service/core/container.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"
#include "service/base/utf8.h"
#include "service/core/ttl_rules.h"

namespace ttl {
namespace {

absl::Status InvalidId(const std::string& id, absl::string_view requirement) {
  constexpr size_t kMaxShownBytes = 64;
  return InvalidField("container.id", absl::StrCat("container id \"",
                                                   absl::CHexEscape(id.substr(0, kMaxShownBytes)),
                                                   id.size() > kMaxShownBytes ? "..." : "", "\" (",
                                                   id.size(), " bytes): ", requirement));
}

absl::Status ValidateIndexingMode(const ContainerSettings& settings) {
  switch (settings.indexing_mode) {
    case IndexingMode::kConsistent:
    case IndexingMode::kLazy:
      return absl::OkStatus();
    case IndexingMode::kNone:
      if (!settings.policy.default_ttl.has_value()) return absl::OkStatus();
      return MakeError(
          Reason::kTtlNeedsIndex,
          absl::StrCat(
              "default_ttl is ", *settings.policy.default_ttl,
              " and indexing_mode is NONE: items cannot expire without an expiry index; leave out "
              "default_ttl, or set indexing_mode to CONSISTENT or LAZY"));
  }
  return InvalidField("container.indexing_mode",
                      absl::StrCat("indexing_mode is ", static_cast<int>(settings.indexing_mode),
                                   ": must be CONSISTENT (1), LAZY (2) or NONE (3)"));
}

absl::Status ValidateUnits(absl::string_view field, std::optional<double> units) {
  if (!units.has_value() || (std::isfinite(*units) && *units > 0)) return absl::OkStatus();
  return InvalidField(absl::StrCat("container.delete_policy.", field),
                      absl::StrCat("delete_policy.", field, " is ", *units,
                                   ": must be a finite number greater than 0"));
}

absl::Status ValidateBudget(const ContainerSettings& settings) {
  TTL_RETURN_IF_ERROR(ValidateUnits("request_units_per_second", settings.request_units_per_second));
  TTL_RETURN_IF_ERROR(ValidateUnits("request_units_per_delete", settings.request_units_per_delete));
  const double floor = settings.min_deletes_per_second;
  if (!std::isfinite(floor) || floor < 0) {
    return InvalidField("container.delete_policy.min_deletes_per_second",
                        absl::StrCat("delete_policy.min_deletes_per_second is ", floor,
                                     ": must be a finite number, 0 or more"));
  }
  const double floor_cost = floor * settings.request_units_per_delete.value_or(1);
  if (settings.request_units_per_second.has_value() &&
      floor_cost > *settings.request_units_per_second) {
    return InvalidField(
        "container.delete_policy.min_deletes_per_second",
        absl::StrCat("delete_policy.min_deletes_per_second is ", floor, " and costs ", floor_cost,
                     " request units per second: must not cost more than request_units_per_second, "
                     "which is ",
                     *settings.request_units_per_second));
  }
  return absl::OkStatus();
}

absl::Status ValidateBrake(const PolicyBrake& brake) {
  if (!brake.max_newly_due_items.has_value() && !brake.max_newly_due_percent.has_value()) {
    return InvalidField(
        "container.delete_policy.brake",
        "delete_policy.brake has no limit: set max_newly_due_items or max_newly_due_percent, or "
        "leave out the brake");
  }
  if (brake.max_newly_due_items.value_or(0) < 0) {
    return InvalidField("container.delete_policy.brake.max_newly_due_items",
                        absl::StrCat("delete_policy.brake.max_newly_due_items is ",
                                     *brake.max_newly_due_items, ": must be 0 or more"));
  }
  const double percent = brake.max_newly_due_percent.value_or(0);
  if (!(percent >= 0 && percent <= 100)) {
    return InvalidField("container.delete_policy.brake.max_newly_due_percent",
                        absl::StrCat("delete_policy.brake.max_newly_due_percent is ", percent,
                                     ": must be 0 to 100"));
  }
  if (brake.release_after_seconds < PolicyBrake::kMinReleaseSeconds ||
      brake.release_after_seconds > PolicyBrake::kMaxReleaseSeconds) {
    return InvalidField(
        "container.delete_policy.brake.release_after",
        absl::StrCat("delete_policy.brake.release_after is ", brake.release_after_seconds,
                     " s: must be ", PolicyBrake::kMinReleaseSeconds, " to ",
                     PolicyBrake::kMaxReleaseSeconds, " s"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateContainerId(const std::string& id) {
  const std::string unmet = UnmetByName(id, kMaxContainerIdBytes);
  return unmet.empty() ? absl::OkStatus() : InvalidId(id, unmet);
}

absl::Status ValidateSettings(const ContainerSettings& settings) {
  TTL_RETURN_IF_ERROR(
      OfField("container.default_ttl", ValidateTtl("default_ttl", settings.policy.default_ttl)));
  const int64_t delay = settings.policy.delay_seconds;
  if (delay < 0 || delay > kMaxDelaySeconds) {
    return InvalidField("container.delete_policy.delay",
                        absl::StrCat("delete_policy.delay is ", delay, " s: must be 0 to ",
                                     kMaxDelaySeconds, " s"));
  }
  if (const auto rate = settings.max_deletes_per_second;
      rate.has_value() && !(std::isfinite(*rate) && *rate >= 0)) {
    return InvalidField("container.delete_policy.max_deletes_per_second",
                        absl::StrCat("delete_policy.max_deletes_per_second is ", *rate,
                                     ": must be a finite number, 0 (no deletes) or more"));
  }
  TTL_RETURN_IF_ERROR(ValidateBudget(settings));
  if (settings.brake.has_value()) TTL_RETURN_IF_ERROR(ValidateBrake(*settings.brake));
  if (settings.feed.has_value()) TTL_RETURN_IF_ERROR(ValidateFeedSettings(*settings.feed));
  if (settings.windows.has_value()) TTL_RETURN_IF_ERROR(ValidateWindows(*settings.windows));
  return ValidateIndexingMode(settings);
}

std::string ContainerEtag(const Container& container) {
  return absl::StrCat(container.number, "-", container.revision);
}

}  // namespace ttl
