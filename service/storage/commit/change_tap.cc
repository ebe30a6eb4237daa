#include "service/storage/commit/change_tap.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"

namespace ttl {

absl::Status ChangeTap::Write(Database& database, const WriteSet& changes) {
  MutexLock lock(mutex_);
  absl::Status written = database.Write(changes);
  if (!open_ || !status_.ok()) return written;
  if (written.ok()) {
    Take(changes);
  } else {
    status_ =
        MakeError(Reason::kBackupInterrupted, "a write failed during the backup: start it again");
  }
  return written;
}

void ChangeTap::Take(const WriteSet& changes) {
  for (const auto& [key, value] : changes) {
    bytes_ += sizeof(WriteSet::value_type) + key.size() + (value.has_value() ? value->size() : 0);
  }
  if (bytes_ <= kMaxBytes) {
    changes_.push_back(changes);
    return;
  }
  changes_ = {};
  status_ = MakeError(
      Reason::kBackupTooSlow,
      absl::StrCat(
          "the reader is more than ", kMaxBytes,
          " bytes behind the changes made meanwhile: read faster, or at a time with fewer writes"));
}

absl::Status ChangeTap::Open() {
  MutexLock lock(mutex_);
  if (open_)
    return MakeError(Reason::kBackupRunning, "a backup is already running: wait until it ends");
  open_ = true;
  status_ = absl::OkStatus();
  bytes_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<WriteSet>> ChangeTap::Drain() {
  MutexLock lock(mutex_);
  TTL_RETURN_IF_ERROR(status_);
  bytes_ = 0;
  return std::exchange(changes_, {});
}

void ChangeTap::Close() {
  MutexLock lock(mutex_);
  open_ = false;
  changes_ = {};
}

}  // namespace ttl
