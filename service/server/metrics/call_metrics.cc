#include "service/server/metrics/call_metrics.h"

#include <string>

#include "absl/status/status.h"
#include "service/server/metrics/metric_catalog.h"
#include "service/transport/access/role.h"
#include "service/transport/connections/closed_connections.h"

namespace ttl {
namespace {

void AddCodes(const MetricInfo& info, const std::string& method, const AnswerCounts& counts,
              MetricSheet& sheet) {
  for (size_t i = 0; i < counts.by_code.size(); ++i) {
    const auto code = static_cast<absl::StatusCode>(i);
    if (counts.by_code[i] == 0 && code != absl::StatusCode::kOk) continue;
    sheet.Set(info, counts.by_code[i], {method, absl::StatusCodeToString(code)});
  }
}

// Most methods are never called, and their histograms would be most of the text.
void AddDurations(const MetricInfo& info, const std::string& method, const AnswerCounts& counts,
                  MetricSheet& sheet) {
  if (counts.duration.Count() > 0) sheet.SetDurations(info, counts.duration, {method});
}

}  // namespace

void AddCallMetrics(const CallCounters& counters, MetricSheet& sheet) {
  for (const auto& [method, counts] : counters.Get()) {
    AddCodes(metric::kCalls, method, counts.calls, sheet);
    if (!counts.is_stream) {
      AddDurations(metric::kCallDuration, method, counts.calls, sheet);
      continue;
    }
    sheet.Set(metric::kStreamsOpen, counts.open_streams, {method});
    AddCodes(metric::kMessages, method, counts.messages, sheet);
    AddDurations(metric::kMessageDuration, method, counts.messages, sheet);
  }
}

void AddCheckMetrics(const CheckCounters& counters, MetricSheet& sheet) {
  const VerdictCounts verdicts = counters.Verdicts();
  sheet.Set(metric::kChecks, verdicts.visible, {"visible"});
  sheet.Set(metric::kChecks, verdicts.expired, {"expired"});
  sheet.Set(metric::kChecks, verdicts.untracked, {"untracked"});
  sheet.Set(metric::kImpossibleChecks, counters.impossible.load());
  sheet.Set(metric::kIllegalTtls, counters.illegal_ttls.load());
}

void AddAccessMetrics(const AccessCounters& counters, MetricSheet& sheet) {
  for (const Role role : kRoles) {
    const auto index = static_cast<size_t>(role);
    sheet.Set(metric::kAccessRefusals, counters.refused[index].load(),
              {std::string(RoleName(role))});
  }
}

void AddConnectionMetrics(MetricSheet& sheet) {
  for (int i = 0; i < kCloseReasons; ++i) {
    const auto reason = static_cast<CloseReason>(i);
    sheet.Set(metric::kClosedConnections, ClosedConnections(reason), {CloseReasonName(reason)});
  }
}

}  // namespace ttl
