#include "service/server/rebuild.h"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/core/status_macros.h"
#include "service/rpc/quoted.h"
#include "service/storage/done.h"
#include "service/storage/recovery.h"

namespace ttl {
namespace {

absl::StatusOr<std::unique_ptr<Storage>> ReplaceDamaged(const ServerConfig& config,
                                                        const StorageOptions& options,
                                                        const absl::Status& damage,
                                                        absl::Time now) {
  if (config.containers_file.empty()) {
    return absl::DataLossError(
        absl::StrCat(damage.message(),
                     "; it cannot be rebuilt from the store because nothing says which "
                     "containers there are: give --containers"));
  }
  spdlog::error("data damaged: set aside in {}/damaged, to be rebuilt from the store: detail={}",
                config.data_dir, Quoted(damage.message(), 1024));
  TTL_RETURN_IF_ERROR(SetAsideDamaged(config.data_dir));
  TTL_ASSIGN_OR_RETURN(std::unique_ptr<Storage> storage, Storage::Open(options));
  // First: a process killed in between finds an empty database, and rebuilds that.
  const Pause pause = {"the data was damaged, and with it what was paused before", now};
  TTL_RETURN_IF_ERROR(Await<absl::Status>(
      [&](auto done) { storage->containers().SetPauseOfAll(pause, std::move(done)); }));
  return storage;
}

absl::Status Doubt(Storage& storage, const std::string& reason) {
  TTL_RETURN_IF_ERROR(Await<absl::Status>([&](auto done) {
    storage.sidecar_state().SaveDataDoubt({reason, "", ""}, std::move(done));
  }));
  storage.data_trust().Doubt(reason);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Storage>> OpenForRebuild(const ServerConfig& config,
                                                        const StorageOptions& options,
                                                        absl::Time now) {
  absl::StatusOr<std::unique_ptr<Storage>> opened = Storage::Open(options);
  if (config.rebuild_from_store == RebuildMode::kNever) return opened;
  const absl::Status status = opened.status();
  const bool damaged = absl::IsDataLoss(status);
  if (damaged) opened = ReplaceDamaged(config, options, status, now);
  if (!opened.ok()) return opened;
  Storage& storage = **opened;
  if (storage.data_trust().in_doubt()) return opened;  // it goes on
  TTL_ASSIGN_OR_RETURN(const bool is_new, storage.sidecar_state().IsNew());
  if (damaged) {
    TTL_RETURN_IF_ERROR(Doubt(storage, absl::StrCat("it was damaged: ", status.message())));
  } else if (is_new) {
    TTL_RETURN_IF_ERROR(Doubt(storage, "the data directory was empty"));
  } else if (config.rebuild_from_store == RebuildMode::kAlways) {
    TTL_RETURN_IF_ERROR(Doubt(storage, "started with --rebuild-from-store=always"));
  }
  return opened;
}

absl::Status ReadinessOf(const ServerConfig& config, Storage& storage) {
  TTL_RETURN_IF_ERROR(storage.WriteHealth());
  if (config.rebuild_from_store == RebuildMode::kNever || !storage.data_trust().in_doubt()) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat("what is tracked is being rebuilt from the store: ",
                                             storage.data_trust().doubt()));
}

}  // namespace ttl
