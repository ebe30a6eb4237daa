#include "service/server/metrics/reconciliation_metrics.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "service/server/metrics/metric_catalog.h"
#include "ttl/v1/maintenance_service.pb.h"

namespace ttl {
namespace {

// The label of a state, such as "running".
std::string NameOf(ReconciliationState state) {
  const std::string name =
      v1::ReconciliationState_Name(static_cast<v1::ReconciliationState>(state));
  return absl::AsciiStrToLower(absl::StripPrefix(name, "RECONCILIATION_STATE_"));
}

}  // namespace

void AddReconciliationMetrics(bool data_in_doubt, const std::optional<Reconciliation>& last,
                              MetricSheet& sheet) {
  sheet.Set(metric::kDataInDoubt, data_in_doubt);
  if (!last.has_value()) return;
  sheet.Set(metric::kReconciliation, 1.0,
            {last->rebuild ? "rebuild" : "reconciliation", NameOf(last->state)});
  sheet.Set(metric::kReconciliationScanned, last->counts.scanned);
  sheet.Set(metric::kReconciliationContainers, last->containers_done, {"done"});
  sheet.Set(metric::kReconciliationContainers, last->containers_total, {"all"});
  sheet.Set(metric::kReconciliationItems, last->items, {"read"});
  if (last->estimated_items.has_value()) {
    sheet.Set(metric::kReconciliationItems, *last->estimated_items, {"estimated"});
  }
}

}  // namespace ttl
