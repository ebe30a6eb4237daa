#include "service/server/sweep_health.h"

#include <spdlog/spdlog.h>

#include "absl/strings/str_join.h"
#include "service/base/quoted.h"

namespace ttl {
namespace {

constexpr char kName[] = "sweep";

}  // namespace

SweepHealth::SweepHealth(grpc::HealthCheckServiceInterface& health) : health_(health) {
  health_.SetServingStatus(kName, true);
}

void SweepHealth::Set(const std::vector<std::string>& reasons) {
  const bool serving = reasons.empty();
  if (serving == serving_) return;
  serving_ = serving;
  health_.SetServingStatus(kName, serving);
  if (serving) {
    spdlog::info("sweep makes progress again");
  } else {
    spdlog::error("sweep makes no progress: reason={}", Quoted(absl::StrJoin(reasons, " "), 1024));
  }
}

}  // namespace ttl
