#include "client/ttlctl/text/reconciliation_text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/item_text.h"
#include "client/ttlctl/text/table.h"

namespace ttl {
namespace {

constexpr int kBarCells = 20;

// Share of the work done, if the store has estimated its size.
double DoneShare(const v1::Reconciliation& reconciliation) {
  if (reconciliation.containers_total() <= 0) return 0;
  double current = 0;
  if (reconciliation.current_estimated_items() > 0) {
    current = static_cast<double>(reconciliation.current_items()) /
              static_cast<double>(reconciliation.current_estimated_items());
  }
  const double share =
      (static_cast<double>(reconciliation.containers_done()) + std::min(current, 1.0)) /
      static_cast<double>(reconciliation.containers_total());
  return std::clamp(share, 0.0, 1.0);
}

std::string DifferenceText(v1::Difference difference, bool dry_run) {
  switch (difference) {
    case v1::DIFFERENCE_MISSING:
      return dry_run ? "missing" : "was missing";
    case v1::DIFFERENCE_DIFFERING:
      return dry_run ? "differing" : "was differing";
    case v1::DIFFERENCE_NEWER:
      return "newer here";
    case v1::DIFFERENCE_INVALID:
      return "impossible";
    case v1::DIFFERENCE_EXTRA:
      return "extra";
    default:
      return "other";
  }
}

std::string VersionText(bool present, const v1::Item& item) {
  if (!present) return "-";
  return absl::StrCat("ts ", item.ts(), item.has_ttl() ? absl::StrCat(", ttl ", item.ttl()) : "",
                      item.has_expire_at() ? absl::StrCat(", expire_at ", item.expire_at()) : "");
}

std::string DetailsText(const v1::ReconciliationSample& sample) {
  return absl::StrCat("in the store: ", VersionText(sample.has_stored(), sample.stored()),
                      "; tracked: ", VersionText(sample.has_tracked(), sample.tracked()),
                      sample.reason().empty() ? "" : "; ", sample.reason());
}

std::string StateText(const v1::Reconciliation& reconciliation) {
  switch (reconciliation.state()) {
    case v1::RECONCILIATION_STATE_RUNNING:
      return "running";
    case v1::RECONCILIATION_STATE_WAITING:
      return "waiting to retry";
    case v1::RECONCILIATION_STATE_DONE:
      return "done";
    case v1::RECONCILIATION_STATE_FAILED:
      return "failed";
    case v1::RECONCILIATION_STATE_CANCELLED:
      return "cancelled";
    default:
      return "unknown";
  }
}

std::string SamplesText(const v1::Reconciliation& reconciliation) {
  if (reconciliation.samples().empty()) return "";
  Table table({"ITEM", "CONTAINER", "DIFFERENCE", "DETAILS"});
  for (const v1::ReconciliationSample& sample : reconciliation.samples()) {
    const v1::Item& key = sample.has_stored() ? sample.stored() : sample.tracked();
    table.AddRow({ItemKeyText(key.partition_key(), key.id()), sample.container(),
                  DifferenceText(sample.difference(), reconciliation.dry_run()),
                  DetailsText(sample)});
  }
  return absl::StrCat("\n", table.Render());
}

}  // namespace

std::string ReconciliationProgress(const v1::Reconciliation& reconciliation) {
  const double share = DoneShare(reconciliation);
  const int cells = static_cast<int>(share * kBarCells);
  std::string text = absl::StrCat(
      "[", std::string(cells, '#'), std::string(kBarCells - cells, '.'), "] ",
      static_cast<int>(share * 100), " %  container ",
      std::min(reconciliation.containers_done() + 1, reconciliation.containers_total()), " of ",
      reconciliation.containers_total(), "  ", FormatCount(reconciliation.counts().scanned()),
      " items");
  if (!reconciliation.problem().empty()) absl::StrAppend(&text, "  ", reconciliation.problem());
  return text;
}

std::string ReconciliationText(const v1::Reconciliation& reconciliation) {
  const v1::ReconciliationCounts& counts = reconciliation.counts();
  std::vector<std::pair<std::string, std::string>> fields = {
      {"state", StateText(reconciliation)},
      {"containers",
       absl::StrCat(reconciliation.containers_done(), " of ", reconciliation.containers_total())},
      {"items of the store", FormatCount(counts.scanned())},
      {"same", FormatCount(counts.same())},
      {reconciliation.dry_run() ? "missing" : "missing, now tracked",
       FormatCount(counts.missing())},
      {reconciliation.dry_run() ? "differing" : "differing, now as the store has them",
       FormatCount(counts.differing())},
      {"newer here, left", FormatCount(counts.newer())},
      {"impossible, left out", FormatCount(counts.invalid())},
      {"extra, left to their delete", FormatCount(counts.extra())}};
  if (!reconciliation.problem().empty()) fields.emplace_back("problem", reconciliation.problem());
  return absl::StrCat(FormatFields(fields), SamplesText(reconciliation));
}

}  // namespace ttl
