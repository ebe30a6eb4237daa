#include "service/server/start_changes.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "service/core/status_macros.h"
#include "service/rpc/quoted.h"
#include "service/server/containers_file.h"
#include "service/server/rebuild.h"
#include "service/storage/done.h"

namespace ttl {

absl::Status StartChanges::Make() {
  TTL_RETURN_IF_ERROR(SaveDoubt(storage_));
  TTL_RETURN_IF_ERROR(PauseIfAsked());
  return ApplyContainers(entries_, storage_, clock_.Read().now, config_.policy_grace);
}

absl::Status StartChanges::PauseIfAsked() {
  Containers& containers = storage_.containers();
  if (!config_.start_paused || containers.PauseOfAll().has_value()) return absl::OkStatus();
  const Pause pause = {"started with --start-paused", clock_.Read().now};
  TTL_RETURN_IF_ERROR(
      Await<absl::Status>([&](auto done) { containers.SetPauseOfAll(pause, std::move(done)); }));
  spdlog::warn("deletes paused: container=all reason={}", Quoted(pause.reason));
  return absl::OkStatus();
}

}  // namespace ttl
