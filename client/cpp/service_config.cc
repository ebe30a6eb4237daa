#include "client/cpp/service_config.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ttl {
namespace {

constexpr absl::string_view kRepeatable = R"(
    {"service": "ttl.v1.ItemService", "method": "CheckVisibility"},
    {"service": "ttl.v1.ItemService", "method": "GetItem"},
    {"service": "ttl.v1.ItemService", "method": "ListItems"},
    {"service": "ttl.v1.ContainerService", "method": "GetContainer"},
    {"service": "ttl.v1.ContainerService", "method": "ListContainers"},
    {"service": "ttl.v1.ExpiryService", "method": "GetExpiryStatus"},
    {"service": "ttl.v1.ExpiryService", "method": "ListExpiryStatuses"},
    {"service": "ttl.v1.ExpiryService", "method": "ExplainItem"},
    {"service": "ttl.v1.ExpiryService", "method": "GetForecast"},
    {"service": "ttl.v1.ExpiryService", "method": "ListStuckItems"},
    {"service": "ttl.v1.FeedService", "method": "GetSubscription"},
    {"service": "ttl.v1.FeedService", "method": "ListSubscriptions"},
    {"service": "ttl.v1.FeedService", "method": "Acknowledge"},
    {"service": "ttl.v1.HoldService", "method": "PlaceHold"},
    {"service": "ttl.v1.HoldService", "method": "ListHolds"},
    {"service": "ttl.v1.HoldService", "method": "ListHeldKeys"})";

constexpr absl::string_view kReports = R"(
    {"service": "ttl.v1.ItemService", "method": "TrackItems"},
    {"service": "ttl.v1.ItemService", "method": "UntrackItems"})";

constexpr absl::string_view kTouches = R"(
    {"service": "ttl.v1.ItemService", "method": "TouchItems"})";

std::string MethodConfig(absl::string_view names, absl::string_view codes) {
  return absl::StrCat(R"({"name": [)", names, R"(], "retryPolicy": {
      "maxAttempts": 4, "initialBackoff": "0.05s", "maxBackoff": "0.5s", "backoffMultiplier": 2,
      "retryableStatusCodes": [)",
                      codes, "]}}");
}

}  // namespace

std::string ServiceConfigJson() {
  return absl::StrCat(R"({"methodConfig": [)", MethodConfig(kRepeatable, R"("UNAVAILABLE")"), ", ",
                      MethodConfig(kReports, R"("RESOURCE_EXHAUSTED")"), ", ",
                      MethodConfig(kTouches, R"("UNAVAILABLE", "RESOURCE_EXHAUSTED")"),
                      R"(], "retryThrottling": {"maxTokens": 100, "tokenRatio": 0.1}})");
}

}  // namespace ttl
