#include "service/server/sweep_health.h"

#include <spdlog/spdlog.h>

#include "service/rpc/health.h"
#include "service/rpc/quoted.h"

namespace ttl {
namespace {

constexpr char kName[] = "sweep";

}  // namespace

SweepHealth::SweepHealth(grpc::HealthCheckServiceInterface& health) : health_(health) {
  health_.SetServingStatus(kName, true);
}

void SweepHealth::Set(std::optional<absl::Duration> stall) {
  if (stall.has_value() == stalled_) return;
  stalled_ = stall.has_value();
  health_.SetServingStatus(kName, !stalled_);
  if (stalled_) {
    spdlog::error("sweep stalled: reason={}", Quoted(StalledSweepReason(*stall), 256));
  } else {
    spdlog::info("sweep goes on");
  }
}

}  // namespace ttl
