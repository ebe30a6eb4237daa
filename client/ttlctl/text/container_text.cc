#include "client/ttlctl/text/container_text.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ttlctl/input/duration_text.h"
#include "client/ttlctl/input/windows_text.h"
#include "client/ttlctl/text/feed/feed_text.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/shell_word.h"
#include "client/ttlctl/text/table.h"
#include "service/base/time_text.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

std::string DeleteRateText(const v1::DeletePolicy& policy) {
  if (!policy.has_max_deletes_per_second()) return "server default";
  if (policy.max_deletes_per_second() == 0) return "0 (no deletes)";
  return absl::StrCat(FormatRate(policy.max_deletes_per_second()), "/s");
}

// For a table; durations as options take them.
std::string BriefTtl(const v1::Container& container) {
  if (!container.has_default_ttl()) return "off";
  return container.default_ttl() < 0 ? "-1" : TextFromSeconds(container.default_ttl());
}

std::string BriefRate(const v1::DeletePolicy& policy) {
  if (!policy.has_max_deletes_per_second()) return "default";
  return absl::StrCat(FormatRate(policy.max_deletes_per_second()), "/s");
}

// "more than 1,000 items or 5 % due by one change; releases after 1d".
std::string BrakeText(const v1::PolicyBrake& brake) {
  std::vector<std::string> limits;
  if (brake.has_max_newly_due_items()) {
    limits.push_back(absl::StrCat(FormatCount(brake.max_newly_due_items()), " items"));
  }
  if (brake.has_max_newly_due_percent()) {
    limits.push_back(absl::StrCat(FormatRate(brake.max_newly_due_percent()), " %"));
  }
  return absl::StrCat("more than ", absl::StrJoin(limits, " or "),
                      " due by one change; releases after ",
                      FormatSpan(ToDuration(brake.release_after())));
}

// One window a line, then what applies while none is open.
std::string DescribeWindows(const v1::DeleteWindows& windows) {
  std::string text;
  for (const v1::DeleteWindow& window : windows.windows()) {
    absl::StrAppend(&text, WindowText(window), "\n");
  }
  const double outside = windows.max_deletes_per_second_outside();
  const std::string rate =
      outside == 0 ? "no deletes" : absl::StrCat("deletes ", FormatRate(outside), "/s");
  return absl::StrCat(text, "outside ", rate, "; time zone ",
                      windows.time_zone().empty() ? "UTC" : windows.time_zone());
}

std::string ThroughputText(const v1::DeletePolicy& policy) {
  std::string text =
      absl::StrCat(FormatRate(policy.request_units_per_second()), " request units/s");
  if (policy.min_deletes_per_second() > 0) {
    absl::StrAppend(&text, ", deletes ", FormatRate(policy.min_deletes_per_second()),
                    "/s even if requests leave nothing over");
  }
  return text;
}

// Which commands show what stands in the way of deletes. has_holds is also set for gates.
std::string HasHoldsText(const v1::Container& container) {
  const std::string id = IdArguments({container.id()});
  const std::string holds = absl::StrCat("ttlctl holds list ", id);
  if (!container.has_feed()) return holds;
  return absl::StrCat(holds, "\nor gates: ttlctl subscriptions list ", id);
}

std::string DelayText(const v1::DeletePolicy& policy) {
  return FormatSpan(ToDuration(policy.delay()));
}

}  // namespace

std::string DefaultTtlText(const v1::Container& container) {
  if (!container.has_default_ttl()) return "off";
  const int64_t seconds = container.default_ttl();
  if (seconds == -1) return "-1 (only items with a ttl of their own)";
  return absl::StrCat(seconds, " s (", FormatSpan(absl::Seconds(seconds)), ")");
}

std::string IndexingModeText(v1::IndexingMode mode) {
  switch (mode) {
    case v1::INDEXING_MODE_CONSISTENT:
      return "consistent";
    case v1::INDEXING_MODE_LAZY:
      return "lazy";
    case v1::INDEXING_MODE_NONE:
      return "none";
    default:
      return absl::StrCat("unknown (", static_cast<int>(mode), ")");
  }
}

std::string IndexProgressText(const v1::IndexProgress& progress) {
  switch (progress.state()) {
    case v1::INDEX_STATE_NONE:
      return "none";
    case v1::INDEX_STATE_BUILDING:
      return absl::StrCat("building, ", progress.percent(), " % (",
                          FormatCount(progress.items_indexed()), " items)");
    case v1::INDEX_STATE_READY:
      return "ready";
    default:
      return "unknown";
  }
}

std::string ContainerText(const v1::Container& container) {
  const v1::DeletePolicy& policy = container.delete_policy();
  std::vector<std::pair<std::string, std::string>> fields = {
      {"container", container.id()},
      {"default ttl", DefaultTtlText(container)},
      {"indexing", absl::StrCat(IndexingModeText(container.indexing_mode()), ", index ",
                                IndexProgressText(container.index_progress()))},
      {"deletes", DeleteRateText(policy)},
      {"delay", DelayText(policy)},
  };
  if (policy.has_request_units_per_second()) {
    fields.emplace_back("throughput", ThroughputText(policy));
  }
  if (policy.has_request_units_per_delete()) {
    fields.emplace_back(
        "a delete costs",
        absl::StrCat(FormatRate(policy.request_units_per_delete()), " until the store says it"));
  }
  if (policy.has_brake()) fields.emplace_back("brake", BrakeText(policy.brake()));
  if (policy.has_windows()) fields.emplace_back("windows", DescribeWindows(policy.windows()));
  if (container.show_held()) fields.emplace_back("held items", "stay visible when they expire");
  if (container.requires_holds()) {
    fields.emplace_back("requires holds", "nothing is deleted while they may be incomplete");
  }
  if (container.has_holds()) fields.emplace_back("has holds", HasHoldsText(container));
  if (container.allow_touch() || container.has_touches()) {
    fields.emplace_back("touches", container.allow_touch()
                                       ? "allowed"
                                       : "no longer allowed; earlier ones go on counting");
  }
  if (container.has_feed()) fields.emplace_back("feed", FeedSettingsText(container.feed()));
  fields.emplace_back("etag", container.etag());
  fields.emplace_back("created", TimeText(ToTime(container.create_time())));
  fields.emplace_back("updated", TimeText(ToTime(container.update_time())));
  return FormatFields(fields);
}

std::string ContainersText(const std::vector<v1::Container>& containers) {
  if (containers.empty()) return "no containers\n";
  Table table({"CONTAINER", "DEFAULT TTL", "DELETES", "DELAY", "INDEXING", "INDEX"});
  for (const v1::Container& container : containers) {
    table.AddRow({container.id(), BriefTtl(container), BriefRate(container.delete_policy()),
                  TextFromSeconds(container.delete_policy().delay().seconds()),
                  IndexingModeText(container.indexing_mode()),
                  IndexProgressText(container.index_progress())});
  }
  return table.Render();
}

}  // namespace ttl
