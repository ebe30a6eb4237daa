#ifndef TTL_SERVICE_CORE_FEED_FEED_SETTINGS_H_
#define TTL_SERVICE_CORE_FEED_FEED_SETTINGS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"

namespace ttl {

// The settings of the feed of a container: how long its events are kept, and whether items are
// announced before they expire.
struct FeedSettings {
  static constexpr int64_t kDefaultMaxAgeSeconds = 86400;
  static constexpr int64_t kMinMaxAgeSeconds = 60;
  static constexpr int64_t kMaxMaxAgeSeconds = int64_t{366} * 86400;
  static constexpr int64_t kDefaultMaxBytes = int64_t{1} << 30;
  static constexpr int64_t kMinMaxBytes = int64_t{1} << 20;
  static constexpr int64_t kMaxMaxBytes = int64_t{1} << 40;
  static constexpr int64_t kMinNoticeSeconds = 1;
  static constexpr int64_t kMaxNoticeSeconds = int64_t{366} * 86400;

  int64_t max_age_seconds = kDefaultMaxAgeSeconds;
  int64_t max_bytes = kDefaultMaxBytes;
  std::optional<int64_t> notice_seconds = {};  // absent: no notices

  friend bool operator==(const FeedSettings&, const FeedSettings&) = default;
};

// INVALID_ARGUMENT for a value out of range, naming the field of a request that has a container.
absl::Status ValidateFeedSettings(const FeedSettings& settings);

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_FEED_FEED_SETTINGS_H_
