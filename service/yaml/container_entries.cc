#include "service/yaml/container_entries.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "service/base/status_macros.h"
#include "service/core/ttl_rules.h"
#include "service/core/windows/window_text.h"
#include "service/yaml/yaml_document.h"

namespace ttl {
namespace {

// A node, and its path for errors.
struct NodePath {
  std::string file;
  std::string container;  // empty: not in a container, or its id is unknown
  std::string key;
  YAML::Node node;

  // The same, one key deeper.
  NodePath Under(const std::string& name, const YAML::Node& child) const {
    return {file, container, key.empty() ? name : absl::StrCat(key, ".", name), child};
  }

  absl::Status Error(absl::string_view problem) const {
    std::string where = absl::StrCat(file, ":", node.Mark().line + 1);
    if (!container.empty()) absl::StrAppend(&where, ": container \"", container, "\"");
    if (!key.empty()) absl::StrAppend(&where, ": ", key);
    return absl::InvalidArgumentError(absl::StrCat(where, ": ", problem));
  }
};

std::string Describe(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  if (node.IsNull()) return "nothing";
  return absl::StrCat("\"", absl::Utf8SafeCEscape(node.Scalar()), "\"");
}

absl::Status Refused(const NodePath& path, absl::string_view right) {
  return path.Error(absl::StrCat(Describe(path.node), " is not allowed; give ", right));
}

// yaml-cpp gives quoted scalars the tag "!"; they are text, not numbers.
bool IsPlain(const YAML::Node& node) { return node.IsScalar() && node.Tag() == "?"; }

bool IsWholeNumber(absl::string_view text) {
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return false;
  return std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

absl::StatusOr<int64_t> ReadWhole(const NodePath& path, absl::string_view right) {
  int64_t number = 0;
  if (!IsPlain(path.node) || !IsWholeNumber(path.node.Scalar()) ||
      !absl::SimpleAtoi(path.node.Scalar(), &number)) {
    return Refused(path, right);
  }
  return number;
}

absl::StatusOr<std::optional<int64_t>> ReadDefaultTtl(const NodePath& path) {
  const std::string right =
      absl::StrCat("whole seconds without a unit or quotes, -1 or 1 to ", kMaxTtl, ", or off");
  if (path.node.IsNull() || (IsPlain(path.node) && path.node.Scalar() == "off")) {
    return std::optional<int64_t>();
  }
  TTL_ASSIGN_OR_RETURN(const int64_t ttl, ReadWhole(path, right));
  if (!IsLegalTtl(ttl)) return Refused(path, right);
  return ttl;
}

absl::StatusOr<bool> ReadBool(const NodePath& path) {
  if (path.node.IsNull()) return false;
  const std::string text = IsPlain(path.node) ? path.node.Scalar() : std::string();
  if (text == "true") return true;
  if (text == "false") return false;
  return Refused(path, "true or false");
}

absl::StatusOr<IndexingMode> ReadIndexingMode(const NodePath& path) {
  const std::string name =
      path.node.IsScalar() ? absl::AsciiStrToUpper(path.node.Scalar()) : std::string();
  if (name == "CONSISTENT") return IndexingMode::kConsistent;
  if (name == "LAZY") return IndexingMode::kLazy;
  if (name == "NONE") return IndexingMode::kNone;
  return Refused(path, "CONSISTENT, LAZY or NONE");
}

// Reads a finite number, at least `least`; absent if the key is absent.
absl::StatusOr<std::optional<double>> ReadNumber(const NodePath& path, double least,
                                                 absl::string_view right) {
  if (path.node.IsNull()) return std::optional<double>();
  double number = 0;
  if (!IsPlain(path.node) || !absl::SimpleAtod(path.node.Scalar(), &number) ||
      !std::isfinite(number) || number < least) {
    return Refused(path, right);
  }
  return number;
}

absl::StatusOr<std::optional<double>> ReadRate(const NodePath& path) {
  return ReadNumber(path, 0,
                    "a number from 0 (no deletes) on, or leave it out for the server's default");
}

absl::StatusOr<std::optional<double>> ReadRequestUnits(const NodePath& path) {
  return ReadNumber(path, std::numeric_limits<double>::denorm_min(),
                    "a number greater than 0, or leave it out");
}

absl::StatusOr<int64_t> ReadSeconds(const NodePath& path, int64_t min, int64_t max,
                                    int64_t if_absent) {
  const std::string right =
      absl::StrCat("whole seconds without a unit or quotes, ", min, " to ", max);
  if (path.node.IsNull()) return if_absent;
  TTL_ASSIGN_OR_RETURN(const int64_t seconds, ReadWhole(path, right));
  if (seconds < min || seconds > max) return Refused(path, right);
  return seconds;
}

absl::StatusOr<int64_t> ReadBytes(const NodePath& path, int64_t if_absent) {
  const std::string right =
      absl::StrCat("bytes without a unit or quotes, ", FeedSettings::kMinMaxBytes, " to ",
                   FeedSettings::kMaxMaxBytes);
  if (path.node.IsNull()) return if_absent;
  TTL_ASSIGN_OR_RETURN(const int64_t bytes, ReadWhole(path, right));
  if (bytes < FeedSettings::kMinMaxBytes || bytes > FeedSettings::kMaxMaxBytes) {
    return Refused(path, right);
  }
  return bytes;
}

absl::StatusOr<std::optional<int64_t>> ReadItemLimit(const NodePath& path) {
  constexpr absl::string_view kRight = "a whole number of items, 0 or more, or leave it out";
  if (path.node.IsNull()) return std::optional<int64_t>();
  TTL_ASSIGN_OR_RETURN(const int64_t items, ReadWhole(path, kRight));
  if (items < 0) return Refused(path, kRight);
  return items;
}

absl::StatusOr<std::optional<double>> ReadPercent(const NodePath& path) {
  constexpr absl::string_view kRight = "a number from 0 to 100, or leave it out";
  TTL_ASSIGN_OR_RETURN(const std::optional<double> percent, ReadNumber(path, 0, kRight));
  if (percent.value_or(0) > 100) return Refused(path, kRight);
  return percent;
}

// Calls `read(name, path)` for every key of a mapping. Refuses what is
// not a mapping, keys that are not in `known`, and keys given twice.
template <typename Read>
absl::Status ReadMapping(const NodePath& path, const std::vector<std::string>& known, Read read) {
  const std::string right = absl::StrCat("a mapping with the keys ", absl::StrJoin(known, ", "));
  if (!path.node.IsMap()) return Refused(path, right);
  std::set<std::string> seen;
  for (const auto& pair : path.node) {
    const YAML::Node& key = pair.first;
    const NodePath at_key = {path.file, path.container, path.key, key};
    const std::string name = key.IsScalar() ? key.Scalar() : "";
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return at_key.Error(absl::StrCat("unknown key ", Describe(key), "; the keys are ",
                                       absl::StrJoin(known, ", ")));
    }
    if (!seen.insert(name).second) {
      return at_key.Error(absl::StrCat("key \"", name, "\" is given twice"));
    }
    TTL_RETURN_IF_ERROR(read(name, path.Under(name, pair.second)));
  }
  return absl::OkStatus();
}

absl::Status ReadBrakeSetting(const std::string& name, const NodePath& value, PolicyBrake& brake) {
  if (name == "max_newly_due_items") {
    TTL_ASSIGN_OR_RETURN(brake.max_newly_due_items, ReadItemLimit(value));
  } else if (name == "max_newly_due_percent") {
    TTL_ASSIGN_OR_RETURN(brake.max_newly_due_percent, ReadPercent(value));
  } else {
    TTL_ASSIGN_OR_RETURN(
        brake.release_after_seconds,
        ReadSeconds(value, PolicyBrake::kMinReleaseSeconds, PolicyBrake::kMaxReleaseSeconds,
                    PolicyBrake::kDefaultReleaseSeconds));
  }
  return absl::OkStatus();
}

absl::Status ReadBrake(const NodePath& path, std::optional<PolicyBrake>& brake) {
  if (path.node.IsNull()) return absl::OkStatus();
  brake.emplace();
  return ReadMapping(path,
                     {"max_newly_due_items", "max_newly_due_percent", "release_after_seconds"},
                     [&](const std::string& name, const NodePath& value) {
                       return ReadBrakeSetting(name, value, *brake);
                     });
}

absl::StatusOr<int> ReadTimeOfDay(const NodePath& path, absl::string_view range) {
  const std::string text = path.node.IsScalar() ? path.node.Scalar() : std::string();
  const std::optional<int> time = ParseTimeOfDay(text);
  if (!time.has_value()) return Refused(path, absl::StrCat("a time such as \"22:00\", ", range));
  return *time;
}

absl::StatusOr<uint8_t> ReadDays(const NodePath& path) {
  const std::string right =
      absl::StrCat("a list of days of the week, which are ", absl::StrJoin(kDayNames, ", "),
                   "; leave it out for every day");
  if (path.node.IsNull()) return DeleteWindow::kEveryDay;
  if (!path.node.IsSequence() || path.node.size() == 0) return Refused(path, right);
  uint8_t days = 0;
  for (const YAML::Node& node : path.node) {
    const std::optional<int> day = node.IsScalar() ? ParseDay(node.Scalar()) : std::optional<int>();
    if (!day.has_value()) {
      return Refused({path.file, path.container, path.key, node}, right);
    }
    days = static_cast<uint8_t>(days | 1 << *day);
  }
  return days;
}

absl::Status ReadWindowSetting(const std::string& name, const NodePath& value,
                               DeleteWindow& window) {
  if (name == "days") {
    TTL_ASSIGN_OR_RETURN(window.days, ReadDays(value));
  } else if (name == "start") {
    TTL_ASSIGN_OR_RETURN(window.start, ReadTimeOfDay(value, "00:00 to 23:59"));
  } else if (name == "end") {
    TTL_ASSIGN_OR_RETURN(window.end, ReadTimeOfDay(value, "00:00 to 24:00"));
  } else {
    TTL_ASSIGN_OR_RETURN(window.max_deletes_per_second,
                         ReadNumber(value, 0, "a number from 0 (no deletes) on, or leave it out"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DeleteWindow>> ReadWindowList(const NodePath& path) {
  std::vector<DeleteWindow> windows;
  if (!path.node.IsSequence()) return Refused(path, "a list of windows");
  for (const YAML::Node& node : path.node) {
    const NodePath at = {path.file, path.container,
                         absl::StrCat(path.key, "[", windows.size(), "]"), node};
    DeleteWindow& window = windows.emplace_back();
    TTL_RETURN_IF_ERROR(ReadMapping(at, {"days", "start", "end", "max_deletes_per_second"},
                                    [&](const std::string& name, const NodePath& value) {
                                      return ReadWindowSetting(name, value, window);
                                    }));
    for (const char* required : {"start", "end"}) {
      if (!node[required].IsDefined()) {
        return at.Error(absl::StrCat("the key ", required, " is missing"));
      }
    }
  }
  return windows;
}

absl::Status ReadWindowsSetting(const std::string& name, const NodePath& value,
                                DeleteWindows& windows) {
  if (name == "windows") {
    TTL_ASSIGN_OR_RETURN(windows.windows, ReadWindowList(value));
  } else if (name == "time_zone") {
    if (value.node.IsNull()) return absl::OkStatus();
    if (!value.node.IsScalar()) return Refused(value, "the name of a time zone");
    windows.time_zone = value.node.Scalar();
  } else {
    TTL_ASSIGN_OR_RETURN(const std::optional<double> outside,
                         ReadNumber(value, 0, "a number from 0 (no deletes) on, or leave it out"));
    windows.max_deletes_per_second_outside = outside.value_or(0);
  }
  return absl::OkStatus();
}

absl::Status ReadWindows(const NodePath& path, std::optional<DeleteWindows>& windows) {
  if (path.node.IsNull()) return absl::OkStatus();
  windows.emplace();
  return ReadMapping(path, {"windows", "time_zone", "max_deletes_per_second_outside"},
                     [&](const std::string& name, const NodePath& value) {
                       return ReadWindowsSetting(name, value, *windows);
                     });
}

absl::Status ReadDeleteSetting(const std::string& name, const NodePath& value,
                               ContainerSettings& settings) {
  if (name == "max_deletes_per_second") {
    TTL_ASSIGN_OR_RETURN(settings.max_deletes_per_second, ReadRate(value));
  } else if (name == "delay_seconds") {
    TTL_ASSIGN_OR_RETURN(settings.policy.delay_seconds, ReadSeconds(value, 0, kMaxDelaySeconds, 0));
  } else if (name == "request_units_per_second") {
    TTL_ASSIGN_OR_RETURN(settings.request_units_per_second, ReadRequestUnits(value));
  } else if (name == "request_units_per_delete") {
    TTL_ASSIGN_OR_RETURN(settings.request_units_per_delete, ReadRequestUnits(value));
  } else if (name == "min_deletes_per_second") {
    TTL_ASSIGN_OR_RETURN(const std::optional<double> floor,
                         ReadNumber(value, 0, "a number from 0 on, or leave it out"));
    settings.min_deletes_per_second = floor.value_or(0);
  } else if (name == "windows") {
    return ReadWindows(value, settings.windows);
  } else {
    return ReadBrake(value, settings.brake);
  }
  return absl::OkStatus();
}

absl::Status ReadDeletePolicy(const NodePath& path, ContainerSettings& settings) {
  if (path.node.IsNull()) return absl::OkStatus();
  return ReadMapping(path,
                     {"max_deletes_per_second", "delay_seconds", "request_units_per_second",
                      "request_units_per_delete", "min_deletes_per_second", "brake", "windows"},
                     [&](const std::string& name, const NodePath& value) {
                       return ReadDeleteSetting(name, value, settings);
                     });
}

absl::Status ReadFeedSetting(const std::string& name, const NodePath& value, FeedSettings& feed) {
  if (name == "max_age_seconds") {
    TTL_ASSIGN_OR_RETURN(feed.max_age_seconds,
                         ReadSeconds(value, FeedSettings::kMinMaxAgeSeconds,
                                     FeedSettings::kMaxMaxAgeSeconds, feed.max_age_seconds));
  } else if (name == "max_bytes") {
    TTL_ASSIGN_OR_RETURN(feed.max_bytes, ReadBytes(value, feed.max_bytes));
  } else if (!value.node.IsNull()) {
    TTL_ASSIGN_OR_RETURN(feed.notice_seconds, ReadSeconds(value, FeedSettings::kMinNoticeSeconds,
                                                          FeedSettings::kMaxNoticeSeconds, 0));
  }
  return absl::OkStatus();
}

absl::Status ReadFeed(const NodePath& path, std::optional<FeedSettings>& feed) {
  if (path.node.IsNull()) return absl::OkStatus();
  feed.emplace();
  return ReadMapping(path, {"max_age_seconds", "max_bytes", "notice_seconds"},
                     [&](const std::string& name, const NodePath& value) {
                       return ReadFeedSetting(name, value, *feed);
                     });
}

absl::Status ReadSetting(const std::string& name, const NodePath& value,
                         ContainerSettings& settings) {
  if (name == "default_ttl") {
    TTL_ASSIGN_OR_RETURN(settings.policy.default_ttl, ReadDefaultTtl(value));
  } else if (name == "indexing_mode") {
    TTL_ASSIGN_OR_RETURN(settings.indexing_mode, ReadIndexingMode(value));
  } else if (name == "delete_policy") {
    return ReadDeletePolicy(value, settings);
  } else if (name == "show_held") {
    TTL_ASSIGN_OR_RETURN(settings.show_held, ReadBool(value));
  } else if (name == "holds") {
    TTL_ASSIGN_OR_RETURN(settings.requires_holds, ReadBool(value));
  } else if (name == "feed") {
    return ReadFeed(value, settings.feed);
  } else if (name == "allow_touch") {
    TTL_ASSIGN_OR_RETURN(settings.allow_touch, ReadBool(value));
  }
  return absl::OkStatus();
}

// Reads the id first, wherever it is, so that errors about other keys can name it.
absl::StatusOr<std::string> ReadId(const NodePath& path) {
  if (!path.node.IsMap()) return Refused(path, "a mapping with the key id");
  const YAML::Node id = path.node["id"];
  if (!id.IsDefined()) return path.Error("the key id is missing");
  const NodePath at_id = path.Under("id", id);
  if (!id.IsScalar()) return Refused(at_id, "the id of a container");
  if (const absl::Status valid = ValidateContainerId(id.Scalar()); !valid.ok()) {
    return at_id.Error(valid.message());
  }
  return id.Scalar();
}

absl::StatusOr<ContainerEntry> ReadEntry(NodePath path) {
  ContainerEntry entry;
  TTL_ASSIGN_OR_RETURN(entry.id, ReadId(path));
  path.container = absl::Utf8SafeCEscape(entry.id);
  path.key.clear();
  TTL_RETURN_IF_ERROR(ReadMapping(path,
                                  {"id", "default_ttl", "indexing_mode", "delete_policy",
                                   "show_held", "holds", "feed", "allow_touch"},
                                  [&](const std::string& name, const NodePath& value) {
                                    return ReadSetting(name, value, entry.settings);
                                  }));
  if (const absl::Status valid = ValidateSettings(entry.settings); !valid.ok()) {
    return path.Error(valid.message());
  }
  return entry;
}

absl::StatusOr<std::vector<ContainerEntry>> ReadEntries(const NodePath& path) {
  std::vector<ContainerEntry> entries;
  if (path.node.IsNull()) return entries;
  if (!path.node.IsSequence()) return Refused(path, "a list of containers");
  std::set<std::string> seen;
  for (const YAML::Node& node : path.node) {
    TTL_ASSIGN_OR_RETURN(ContainerEntry entry, ReadEntry({path.file, "", path.key, node}));
    if (!seen.insert(entry.id).second) {
      return NodePath{path.file, absl::Utf8SafeCEscape(entry.id), "", node}.Error("is given twice");
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

absl::StatusOr<std::vector<ContainerEntry>> ReadDocument(const std::string& file_name,
                                                         const YAML::Node& document) {
  std::vector<ContainerEntry> entries;
  if (document.IsNull()) return entries;
  const NodePath path = {file_name, "", "", document};
  TTL_RETURN_IF_ERROR(ReadMapping(path, {"containers"},
                                  [&](const std::string&, const NodePath& value) -> absl::Status {
                                    TTL_ASSIGN_OR_RETURN(entries, ReadEntries(value));
                                    return absl::OkStatus();
                                  }));
  return entries;
}

}  // namespace

absl::StatusOr<std::vector<ContainerEntry>> ParseContainers(const std::string& file_name,
                                                            const std::string& text) {
  std::vector<ContainerEntry> entries;
  TTL_RETURN_IF_ERROR(ReadYamlDocument(
      text, absl::StrCat(file_name, ":"), [&](const YAML::Node& document) -> absl::Status {
        TTL_ASSIGN_OR_RETURN(entries, ReadDocument(file_name, document));
        return absl::OkStatus();
      }));
  return entries;
}

}  // namespace ttl
