#include "service/server/start_changes.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "service/base/done.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/server/config/containers_file.h"
#include "service/server/rebuild.h"

namespace ttl {

absl::Status StartChanges::Make() {
  TTL_RETURN_IF_ERROR(SaveDoubt(storage_));
  TTL_RETURN_IF_ERROR(PauseIfAsked());
  return ApplyContainers(entries_, storage_, clock_.Read().now, config_.policy_grace);
}

absl::Status StartChanges::PauseIfAsked() {
  Containers& containers = storage_.containers();
  if (!config_.start_paused || containers.PauseOfAll().has_value()) return absl::OkStatus();
  const Pause pause = {"started with --start-paused", clock_.Read().now, "the sidecar"};
  TTL_RETURN_IF_ERROR(
      Await<absl::Status>([&](auto done) { containers.SetPauseOfAll(pause, std::move(done)); }));
  spdlog::warn("deletes paused: container=all reason={}", Quoted(pause.reason));
  return absl::OkStatus();
}

}  // namespace ttl
