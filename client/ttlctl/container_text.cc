#include "client/ttlctl/container_text.h"

#include "absl/strings/str_cat.h"
#include "client/cpp/proto_time.h"
#include "client/ttlctl/format.h"
#include "client/ttlctl/table.h"

namespace ttl {
namespace {

std::string DeleteRateText(const v1::DeletePolicy& policy) {
  if (!policy.has_max_deletes_per_second()) return "server default";
  if (policy.max_deletes_per_second() == 0) return "0 (no deletes)";
  return absl::StrCat(FormatRate(policy.max_deletes_per_second()), "/s");
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
  return FormatFields({
      {"container", container.id()},
      {"default ttl", DefaultTtlText(container)},
      {"indexing", absl::StrCat(IndexingModeText(container.indexing_mode()), ", index ",
                                IndexProgressText(container.index_progress()))},
      {"deletes", DeleteRateText(container.delete_policy())},
      {"delay", DelayText(container.delete_policy())},
      {"etag", container.etag()},
      {"created", FormatInstant(ToTime(container.create_time()))},
      {"updated", FormatInstant(ToTime(container.update_time()))},
  });
}

std::string ContainersText(const std::vector<v1::Container>& containers) {
  if (containers.empty()) return "no containers\n";
  Table table({"CONTAINER", "DEFAULT TTL", "INDEXING", "INDEX", "DELETES", "DELAY", "UPDATED"});
  for (const v1::Container& container : containers) {
    const bool own_only = container.has_default_ttl() && container.default_ttl() == -1;
    table.AddRow({container.id(), own_only ? "-1" : DefaultTtlText(container),
                  IndexingModeText(container.indexing_mode()),
                  IndexProgressText(container.index_progress()),
                  DeleteRateText(container.delete_policy()), DelayText(container.delete_policy()),
                  FormatInstant(ToTime(container.update_time()))});
  }
  return table.Render();
}

}  // namespace ttl
