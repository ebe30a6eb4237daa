#include "client/ttlctl/text/yaml/containers_file.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "service/core/windows/window_text.h"

namespace ttl {
namespace {

using nlohmann::ordered_json;

// Whole numbers without ".0", as people write them.
ordered_json NumberOf(double number) {
  constexpr double kMaxWhole = 1e15;
  const bool is_whole = std::floor(number) == number && std::abs(number) < kMaxWhole;
  return is_whole ? ordered_json(static_cast<int64_t>(number)) : ordered_json(number);
}

ordered_json BrakeOf(const v1::PolicyBrake& brake) {
  ordered_json object = ordered_json::object();
  if (brake.has_max_newly_due_items()) object["max_newly_due_items"] = brake.max_newly_due_items();
  if (brake.has_max_newly_due_percent()) {
    object["max_newly_due_percent"] = NumberOf(brake.max_newly_due_percent());
  }
  if (brake.has_release_after()) object["release_after_seconds"] = brake.release_after().seconds();
  return object;
}

ordered_json WindowOf(const v1::DeleteWindow& window) {
  ordered_json object = ordered_json::object();
  for (const int day : window.days()) {
    object["days"].push_back(std::string(kDayNames[day - v1::DAY_OF_WEEK_MONDAY]));
  }
  object["start"] = window.start();
  object["end"] = window.end();
  if (window.has_max_deletes_per_second()) {
    object["max_deletes_per_second"] = NumberOf(window.max_deletes_per_second());
  }
  return object;
}

ordered_json WindowsOf(const v1::DeleteWindows& windows) {
  ordered_json object = ordered_json::object();
  for (const v1::DeleteWindow& window : windows.windows()) {
    object["windows"].push_back(WindowOf(window));
  }
  if (!windows.time_zone().empty()) object["time_zone"] = windows.time_zone();
  if (windows.max_deletes_per_second_outside() != 0) {
    object["max_deletes_per_second_outside"] = NumberOf(windows.max_deletes_per_second_outside());
  }
  return object;
}

ordered_json DeletePolicyOf(const v1::DeletePolicy& policy) {
  ordered_json object = ordered_json::object();
  if (policy.has_max_deletes_per_second()) {
    object["max_deletes_per_second"] = NumberOf(policy.max_deletes_per_second());
  }
  if (policy.delay().seconds() != 0) object["delay_seconds"] = policy.delay().seconds();
  if (policy.has_request_units_per_second()) {
    object["request_units_per_second"] = NumberOf(policy.request_units_per_second());
  }
  if (policy.has_request_units_per_delete()) {
    object["request_units_per_delete"] = NumberOf(policy.request_units_per_delete());
  }
  if (policy.min_deletes_per_second() != 0) {
    object["min_deletes_per_second"] = NumberOf(policy.min_deletes_per_second());
  }
  if (policy.has_brake()) object["brake"] = BrakeOf(policy.brake());
  if (policy.has_windows()) object["windows"] = WindowsOf(policy.windows());
  return object;
}

ordered_json FeedOf(const v1::FeedSettings& feed) {
  ordered_json object = ordered_json::object();
  if (feed.has_max_age()) object["max_age_seconds"] = feed.max_age().seconds();
  if (feed.has_max_bytes()) object["max_bytes"] = feed.max_bytes();
  if (feed.has_notice()) object["notice_seconds"] = feed.notice().seconds();
  return object;
}

ordered_json EntryOf(const v1::Container& container) {
  ordered_json entry = {{"id", container.id()}};
  if (container.has_default_ttl()) entry["default_ttl"] = container.default_ttl();
  if (container.indexing_mode() == v1::INDEXING_MODE_LAZY) entry["indexing_mode"] = "LAZY";
  if (container.indexing_mode() == v1::INDEXING_MODE_NONE) entry["indexing_mode"] = "NONE";
  ordered_json policy = DeletePolicyOf(container.delete_policy());
  if (!policy.empty()) entry["delete_policy"] = std::move(policy);
  if (container.show_held()) entry["show_held"] = true;
  if (container.requires_holds()) entry["holds"] = true;
  if (container.has_feed()) entry["feed"] = FeedOf(container.feed());
  if (container.allow_touch()) entry["allow_touch"] = true;
  return entry;
}

}  // namespace

ordered_json ContainersFile(const std::vector<v1::Container>& containers) {
  ordered_json entries = ordered_json::array();
  for (const v1::Container& container : containers) entries.push_back(EntryOf(container));
  ordered_json file = ordered_json::object();
  file["containers"] = std::move(entries);
  return file;
}

}  // namespace ttl
