#include "service/server/config/storage_settings.h"

#include <spdlog/spdlog.h>

#include <cstddef>

#include "absl/strings/string_view.h"
#include "service/base/quoted.h"

namespace ttl {
namespace {

void LogStorage(StorageOptions::LogLevel level, absl::string_view line) {
  const auto to_spdlog = [level] {
    switch (level) {
      case StorageOptions::LogLevel::kDebug:
        return spdlog::level::debug;
      case StorageOptions::LogLevel::kInfo:
        return spdlog::level::info;
      case StorageOptions::LogLevel::kWarning:
        return spdlog::level::warn;
      case StorageOptions::LogLevel::kError:
        return spdlog::level::err;
    }
    return spdlog::level::err;
  };
  spdlog::log(to_spdlog(), "storage: detail={}", Quoted(line, 1024));
}

}  // namespace

StorageOptions ToStorageOptions(const ServerConfig& config, WakeSignal* due_signal,
                                WakeSignal* unannounced_signal) {
  StorageOptions options;
  options.directory = config.data_dir;
  options.record_cache_bytes = static_cast<size_t>(config.cache_bytes);
  options.block_cache_bytes = static_cast<size_t>(config.block_cache_bytes);
  options.max_queued_writes = static_cast<size_t>(config.max_queued_writes);
  options.max_queued_bytes = static_cast<size_t>(config.max_queued_bytes);
  options.report_floor_bytes = config.report_floor_bytes;
  options.outcome_floor_bytes = config.outcome_floor_bytes;
  options.due_signal = due_signal;
  options.unannounced_signal = unannounced_signal;
  options.log = LogStorage;
  return options;
}

}  // namespace ttl
