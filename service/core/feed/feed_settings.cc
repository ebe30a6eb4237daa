#include "service/core/feed/feed_settings.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"

namespace ttl {
namespace {

absl::Status CheckRange(absl::string_view field, int64_t value, absl::string_view unit,
                        int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return InvalidField(absl::StrCat("container.feed.", field),
                      absl::StrCat("feed.", field, " is ", value, " ", unit, ": must be ", least,
                                   " to ", most, " ", unit));
}

}  // namespace

absl::Status ValidateFeedSettings(const FeedSettings& settings) {
  using S = FeedSettings;
  TTL_RETURN_IF_ERROR(CheckRange("max_age", settings.max_age_seconds, "s", S::kMinMaxAgeSeconds,
                                 S::kMaxMaxAgeSeconds));
  TTL_RETURN_IF_ERROR(
      CheckRange("max_bytes", settings.max_bytes, "bytes", S::kMinMaxBytes, S::kMaxMaxBytes));
  if (!settings.notice_seconds.has_value()) return absl::OkStatus();
  return CheckRange("notice", *settings.notice_seconds, "s", S::kMinNoticeSeconds,
                    S::kMaxNoticeSeconds);
}

}  // namespace ttl
