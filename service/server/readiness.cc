#include "service/server/readiness.h"

#include <spdlog/spdlog.h>

#include "service/base/error_details.h"
#include "service/base/quoted.h"

namespace ttl {

Readiness::Readiness(grpc::HealthCheckServiceInterface& health) : health_(health) {
  Publish(false);
  health_.SetServingStatus("startup", true);
  health_.SetServingStatus("liveness", true);
}

Readiness::~Readiness() {
  const bool was_ready = ready_;
  Publish(false);
  if (was_ready) spdlog::info("not ready: reason=\"stopping\"");
}

void Readiness::Set(const absl::Status& state) {
  if (state == state_) return;
  state_ = state;
  Publish(state.ok());
  if (state.ok()) {
    spdlog::info("ready");
  } else {
    spdlog::error("not ready: reason={}", Quoted(TextOf(state), 1024));
  }
}

void Readiness::Publish(bool ready) {
  ready_ = ready;
  health_.SetServingStatus("", ready);
  health_.SetServingStatus("readiness", ready);
}

}  // namespace ttl
