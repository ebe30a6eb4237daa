#include "service/core/container.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "service/base/status_macros.h"
#include "service/core/ttl_rules.h"

namespace ttl {
namespace {

// Number of bytes of a sequence that starts with `lead`; 0 if none can.
size_t SequenceLength(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// Takes one code point off the front of `text`; -1 if there is none that is
// well-formed (overlong forms and surrogates are not).
int32_t TakeCodePoint(absl::string_view& text) {
  static constexpr int32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t length = SequenceLength(lead);
  if (length == 0 || length > text.size()) return -1;
  int32_t code_point = length == 1 ? lead : lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return -1;
    code_point = (code_point << 6) | (byte & 0x3F);
  }
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < kSmallest[length] || is_surrogate || code_point > 0x10FFFF) return -1;
  text.remove_prefix(length);
  return code_point;
}

bool IsControl(int32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point <= 0x9F);
}

absl::Status InvalidId(const std::string& id, absl::string_view requirement) {
  constexpr size_t kMaxShownBytes = 64;
  return absl::InvalidArgumentError(absl::StrCat(
      "container id \"", absl::CHexEscape(id.substr(0, kMaxShownBytes)),
      id.size() > kMaxShownBytes ? "..." : "", "\" (", id.size(), " bytes): ", requirement));
}

absl::Status ValidateIndexingMode(const ContainerSettings& settings) {
  switch (settings.indexing_mode) {
    case IndexingMode::kConsistent:
    case IndexingMode::kLazy:
      return absl::OkStatus();
    case IndexingMode::kNone:
      if (!settings.policy.default_ttl.has_value()) return absl::OkStatus();
      return absl::FailedPreconditionError(absl::StrCat(
          "default_ttl is ", *settings.policy.default_ttl,
          " and indexing_mode is NONE: items cannot expire without an expiry index; leave out "
          "default_ttl, or set indexing_mode to CONSISTENT or LAZY"));
  }
  return absl::InvalidArgumentError(absl::StrCat("indexing_mode is ",
                                                 static_cast<int>(settings.indexing_mode),
                                                 ": must be CONSISTENT (1), LAZY (2) or NONE (3)"));
}

absl::Status ValidateUnits(absl::string_view field, std::optional<double> units) {
  if (!units.has_value() || (std::isfinite(*units) && *units > 0)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("delete_policy.", field, " is ", *units,
                                                 ": must be a finite number greater than 0"));
}

absl::Status ValidateBudget(const ContainerSettings& settings) {
  TTL_RETURN_IF_ERROR(ValidateUnits("request_units_per_second", settings.request_units_per_second));
  TTL_RETURN_IF_ERROR(ValidateUnits("request_units_per_delete", settings.request_units_per_delete));
  const double floor = settings.min_deletes_per_second;
  if (!std::isfinite(floor) || floor < 0) {
    return absl::InvalidArgumentError(absl::StrCat("delete_policy.min_deletes_per_second is ",
                                                   floor, ": must be a finite number, 0 or more"));
  }
  const double floor_cost = floor * settings.request_units_per_delete.value_or(1);
  if (settings.request_units_per_second.has_value() &&
      floor_cost > *settings.request_units_per_second) {
    return absl::InvalidArgumentError(absl::StrCat(
        "delete_policy.min_deletes_per_second is ", floor, " and costs ", floor_cost,
        " request units per second: must not cost more than request_units_per_second, which is ",
        *settings.request_units_per_second));
  }
  return absl::OkStatus();
}

absl::Status ValidateBrake(const PolicyBrake& brake) {
  if (!brake.max_newly_due_items.has_value() && !brake.max_newly_due_percent.has_value()) {
    return absl::InvalidArgumentError(
        "delete_policy.brake has no limit: set max_newly_due_items or max_newly_due_percent, or "
        "leave out the brake");
  }
  if (brake.max_newly_due_items.value_or(0) < 0) {
    return absl::InvalidArgumentError(absl::StrCat("delete_policy.brake.max_newly_due_items is ",
                                                   *brake.max_newly_due_items,
                                                   ": must be 0 or more"));
  }
  const double percent = brake.max_newly_due_percent.value_or(0);
  if (!(percent >= 0 && percent <= 100)) {
    return absl::InvalidArgumentError(absl::StrCat("delete_policy.brake.max_newly_due_percent is ",
                                                   percent, ": must be 0 to 100"));
  }
  if (brake.release_after_seconds < PolicyBrake::kMinReleaseSeconds ||
      brake.release_after_seconds > PolicyBrake::kMaxReleaseSeconds) {
    return absl::InvalidArgumentError(absl::StrCat(
        "delete_policy.brake.release_after is ", brake.release_after_seconds, " s: must be ",
        PolicyBrake::kMinReleaseSeconds, " to ", PolicyBrake::kMaxReleaseSeconds, " s"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateContainerId(const std::string& id) {
  if (id.empty() || id.size() > kMaxContainerIdBytes) {
    return InvalidId(id, absl::StrCat("must have 1 to ", kMaxContainerIdBytes, " bytes"));
  }
  absl::string_view rest = id;
  while (!rest.empty()) {
    const int32_t code_point = TakeCodePoint(rest);
    if (code_point < 0) return InvalidId(id, "must be UTF-8");
    if (IsControl(code_point)) return InvalidId(id, "must not have control characters");
  }
  return absl::OkStatus();
}

absl::Status ValidateSettings(const ContainerSettings& settings) {
  TTL_RETURN_IF_ERROR(ValidateTtl("default_ttl", settings.policy.default_ttl));
  const int64_t delay = settings.policy.delay_seconds;
  if (delay < 0 || delay > kMaxDelaySeconds) {
    return absl::InvalidArgumentError(absl::StrCat("delete_policy.delay is ", delay,
                                                   " s: must be 0 to ", kMaxDelaySeconds, " s"));
  }
  if (const auto rate = settings.max_deletes_per_second;
      rate.has_value() && !(std::isfinite(*rate) && *rate >= 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("delete_policy.max_deletes_per_second is ", *rate,
                     ": must be a finite number, 0 (no deletes) or more"));
  }
  TTL_RETURN_IF_ERROR(ValidateBudget(settings));
  if (settings.brake.has_value()) TTL_RETURN_IF_ERROR(ValidateBrake(*settings.brake));
  return ValidateIndexingMode(settings);
}

std::string ContainerEtag(const Container& container) {
  return absl::StrCat(container.number, "-", container.revision);
}

}  // namespace ttl
