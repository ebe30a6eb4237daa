#include "service/server/rebuild.h"

#include <spdlog/spdlog.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/storage/upkeep/recovery.h"

namespace ttl {
namespace {

absl::StatusOr<std::unique_ptr<Storage>> OpenInPlaceOf(const std::string& damage,
                                                       const ServerConfig& config,
                                                       const StorageOptions& options,
                                                       absl::Time now) {
  if (config.containers_file.empty()) {
    return absl::DataLossError(
        absl::StrCat(damage,
                     "; it cannot be rebuilt from the store, because the containers are not known: "
                     "give --containers"));
  }
  spdlog::error("data damaged: set aside in {}/damaged, to be rebuilt from the store: detail={}",
                config.data_dir, Quoted(damage, 1024));
  TTL_RETURN_IF_ERROR(ReplaceDamaged(options, damage, now));
  return Storage::Open(options);
}

// If storage accepts no writes, the doubt is in memory only until SaveDoubt() succeeds.
absl::Status Doubt(Storage& storage, const std::string& reason) {
  storage.data_trust().Doubt(reason);
  const absl::Status saved = SaveDoubt(storage);
  return TakesNoWrites(saved) ? absl::OkStatus() : saved;
}

// A lost data directory cannot be told from a first start, so the log must say that this is one.
void LogNew(const ServerConfig& config) {
  spdlog::warn(
      "new database created: data_dir={} detail={}", Quoted(config.data_dir, 4096),
      Quoted("items that the store has already are not tracked, and no pause is known; if this "
             "directory held a database, restore a backup or start with --rebuild-from-store",
             1024));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Storage>> OpenForRebuild(const ServerConfig& config,
                                                        const StorageOptions& options,
                                                        absl::Time now) {
  absl::StatusOr<std::unique_ptr<Storage>> opened = Storage::Open(options);
  if (config.rebuild_from_store == RebuildMode::kNever) {
    if (opened.ok() && (*opened)->sidecar_state().IsNew().value_or(false)) LogNew(config);
    return opened;
  }
  if (absl::IsDataLoss(opened.status())) {
    opened = OpenInPlaceOf(std::string(opened.status().message()), config, options, now);
  }
  if (!opened.ok()) return opened;
  Storage& storage = **opened;
  // A rebuild continues, or replaces a damaged database.
  if (storage.data_trust().in_doubt()) return opened;
  TTL_ASSIGN_OR_RETURN(const bool is_new, storage.sidecar_state().IsNew());
  if (is_new) {
    TTL_RETURN_IF_ERROR(Doubt(storage, "the data directory was empty"));
  } else if (config.rebuild_from_store == RebuildMode::kAlways) {
    TTL_RETURN_IF_ERROR(Doubt(storage, "started with --rebuild-from-store=always"));
  }
  return opened;
}

bool TakesNoWrites(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status);
}

absl::Status SaveDoubt(Storage& storage) {
  const std::string reason = storage.data_trust().doubt();
  TTL_ASSIGN_OR_RETURN(const std::optional<DataDoubt> saved,
                       storage.sidecar_state().LoadDataDoubt());
  if (reason.empty() || saved.has_value()) return absl::OkStatus();
  return Await<absl::Status>([&](auto done) {
    storage.sidecar_state().SaveDataDoubt({reason, "", ""}, std::move(done));
  });
}

absl::Status ReadinessOf(const ServerConfig& config, Storage& storage) {
  TTL_RETURN_IF_ERROR(storage.WriteHealth());
  if (config.rebuild_from_store == RebuildMode::kNever || !storage.data_trust().in_doubt()) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat("the tracked items are being rebuilt from the store: ",
                                             storage.data_trust().doubt()));
}

}  // namespace ttl
