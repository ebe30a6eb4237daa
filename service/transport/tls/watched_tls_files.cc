#include "service/transport/tls/watched_tls_files.h"

#include <spdlog/spdlog.h>

#include "absl/status/statusor.h"
#include "service/base/quoted.h"
#include "service/base/time_text.h"

namespace ttl {
namespace {

constexpr size_t kMaxLoggedFileBytes = 4096;

}  // namespace

std::optional<TlsMaterial> WatchedTlsFiles::ReadChanged() {
  // Before reading, so that a change made meanwhile is noticed next time.
  std::string stamp = StampOf(files_);
  if (stamp == stamp_) return std::nullopt;
  stamp_ = std::move(stamp);
  absl::StatusOr<TlsMaterial> material = ReadTlsFiles(files_);
  if (!material.ok()) {
    spdlog::error("certificates not loaded, the previous ones stay in use: reason={}",
                  Quoted(material.status().message(), kMaxLoggedFileBytes));
    return std::nullopt;
  }
  spdlog::info("certificates loaded: cert={} expires={}",
               Quoted(files_.cert_file, kMaxLoggedFileBytes), TimeText(material->expires));
  return *std::move(material);
}

}  // namespace ttl
