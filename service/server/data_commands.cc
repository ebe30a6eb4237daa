#include "service/server/data_commands.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/base/time_text.h"
#include "service/core/system_clock.h"
#include "service/server/config/storage_settings.h"
#include "service/storage/storage.h"
#include "service/storage/upkeep/recovery.h"

namespace ttl {
namespace {

absl::Time WallNow() { return SystemClock().Read().wall.value_or(absl::UnixEpoch()); }

}  // namespace

absl::Status CheckDataDir(const ServerConfig& config) {
  std::error_code error;
  if (!std::filesystem::is_directory(config.data_dir, error)) {
    return absl::NotFoundError(
        absl::StrCat("--data-dir: \"", config.data_dir, "\" is not a directory"));
  }
  TTL_ASSIGN_OR_RETURN(const std::unique_ptr<Storage> storage,
                       Storage::Open(ToStorageOptions(config, nullptr)));
  return storage->CheckInvariants();
}

absl::Status RestoreDataDir(const ServerConfig& config) {
  TTL_ASSIGN_OR_RETURN(
      const RestoreReport report,
      RestoreBackup(config.restore_file, ToStorageOptions(config, nullptr), WallNow()));
  spdlog::info("restored: records={} backup_time={}; deletes are paused", report.records,
               TimeText(report.backup_time));
  return absl::OkStatus();
}

absl::Status RepairDataDir(const ServerConfig& config) {
  TTL_ASSIGN_OR_RETURN(
      const RepairReport report,
      RepairCopy(config.repair_source, ToStorageOptions(config, nullptr), WallNow()));
  for (const std::string& loss : report.losses) {
    spdlog::warn("data lost: detail={}", Quoted(loss, 1024));
  }
  spdlog::info("repaired: containers={} items={}; deletes are paused", report.containers,
               report.items);
  return absl::OkStatus();
}

}  // namespace ttl
