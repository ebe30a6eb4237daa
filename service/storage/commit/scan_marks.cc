#include "service/storage/commit/scan_marks.h"

namespace ttl {

void ScanMarks::BeginScan(uint64_t container, int64_t expected_keys) {
  MutexLock lock(mutex_);
  marks_.clear();
  bytes_ = 0;
  complete_ = true;
  seen_ = std::make_unique<SeenKeys>(expected_keys);
  container_ = container;
}

void ScanMarks::BeginPage() {
  MutexLock lock(mutex_);
  marks_.clear();
  bytes_ = 0;
  complete_ = true;
}

void ScanMarks::EndScan() {
  MutexLock lock(mutex_);
  container_ = 0;
  marks_ = {};
  bytes_ = 0;
  seen_.reset();
}

void ScanMarks::NoteReport(uint64_t container, absl::string_view key) {
  if (!IsReading(container)) return;
  MutexLock lock(mutex_);
  if (seen_ == nullptr) return;
  seen_->Add(key);
  Set(key, Mark());
}

void ScanMarks::NoteRemoval(uint64_t container, absl::string_view key, int64_t ts,
                            std::optional<uint64_t> sequence) {
  if (!IsReading(container)) return;
  MutexLock lock(mutex_);
  if (seen_ != nullptr) Set(key, {true, ts, sequence});
}

void ScanMarks::Set(absl::string_view key, const Mark& mark) {
  if (bytes_ > kMaxBytes) {
    complete_ = false;
    return;
  }
  const auto [it, is_new] = marks_.insert_or_assign(key, mark);
  if (is_new) bytes_ += key.size() + sizeof(*it);
}

std::optional<ScanMarks::Mark> ScanMarks::Find(absl::string_view key) const {
  MutexLock lock(mutex_);
  const auto it = marks_.find(key);
  if (it == marks_.end()) return std::nullopt;
  return it->second;
}

bool ScanMarks::IsComplete(uint64_t container) const {
  MutexLock lock(mutex_);
  return container_ == container && complete_;
}

void ScanMarks::NoteSeen(absl::string_view key) {
  MutexLock lock(mutex_);
  if (seen_ != nullptr) seen_->Add(key);
}

bool ScanMarks::WasSeen(absl::string_view key) const {
  MutexLock lock(mutex_);
  return seen_ == nullptr || seen_->Contains(key);
}

}  // namespace ttl
