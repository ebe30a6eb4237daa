#include "tests/testing/fault_env.h"

#include <leveldb/helpers/memenv.h>

namespace ttl {
namespace {

using Fault = FaultEnv::Fault;

class FaultFile : public leveldb::WritableFile {
 public:
  FaultFile(std::string name, uint64_t size, leveldb::WritableFile* file,
            std::shared_ptr<FaultEnv::Faults> faults)
      : name_(std::move(name)), size_(size), file_(file), faults_(std::move(faults)) {}

  leveldb::Status Append(const leveldb::Slice& data) override {
    const bool is_short = IsPlanned(Fault::kShortWrite);
    if (is_short || IsPlanned(Fault::kNoSpace)) faults_->fail_writes = true;
    if (!faults_->fail_writes) return Write(data);
    if (is_short) Write({data.data(), data.size() / 2});
    return Failure();
  }
  leveldb::Status Close() override { return file_->Close(); }
  leveldb::Status Flush() override { return faults_->fail_writes ? Failure() : file_->Flush(); }
  leveldb::Status Sync() override {
    RunBeforeSync();
    WaitWhileHeld();
    if (IsPlanned(Fault::kFailedSync)) faults_->fail_writes = true;
    if (faults_->fail_writes) return Failure();
    const std::lock_guard<std::mutex> lock(faults_->mutex);
    faults_->synced_bytes[name_] = size_;
    return file_->Sync();
  }

 private:
  // Whether this is the write for which `fault` is planned.
  bool IsPlanned(Fault fault) {
    const std::lock_guard<std::mutex> lock(faults_->mutex);
    return faults_->until_fault > 0 && faults_->fault == fault && --faults_->until_fault == 0;
  }

  leveldb::Status Write(const leveldb::Slice& data) {
    size_ += data.size();
    return file_->Append(data);
  }

  void RunBeforeSync() {
    const std::lock_guard<std::mutex> lock(faults_->mutex);
    if (faults_->before_sync) faults_->before_sync();
  }

  void WaitWhileHeld() {
    std::unique_lock<std::mutex> lock(faults_->mutex);
    ++faults_->held_syncs;
    faults_->changed.notify_all();
    faults_->changed.wait(lock, [this] { return !faults_->hold_syncs; });
    --faults_->held_syncs;
  }

  static leveldb::Status Failure() { return leveldb::Status::IOError("injected", "write fails"); }

  const std::string name_;
  uint64_t size_;
  std::unique_ptr<leveldb::WritableFile> file_;
  const std::shared_ptr<FaultEnv::Faults> faults_;
};

// Counts what is read of it.
class CountedFile : public leveldb::RandomAccessFile {
 public:
  CountedFile(leveldb::RandomAccessFile* file, std::shared_ptr<FaultEnv::Faults> faults)
      : file_(file), faults_(std::move(faults)) {}

  leveldb::Status Read(uint64_t offset, size_t bytes, leveldb::Slice* result,
                       char* scratch) const override {
    ++faults_->reads;
    if (const std::function<void()> action = TakeAction()) action();
    if (faults_->fail_reads) return leveldb::Status::IOError("injected", "read fails");
    return file_->Read(offset, bytes, result, scratch);
  }

 private:
  std::function<void()> TakeAction() const {
    const std::lock_guard<std::mutex> lock(faults_->mutex);
    return std::exchange(faults_->before_read, nullptr);
  }

  const std::unique_ptr<leveldb::RandomAccessFile> file_;
  const std::shared_ptr<FaultEnv::Faults> faults_;
};

}  // namespace

FaultEnv::FaultEnv() : FaultEnv(leveldb::NewMemEnv(leveldb::Env::Default())) {}
FaultEnv::FaultEnv(leveldb::Env* memory) : EnvWrapper(memory), memory_(memory) {}
FaultEnv::~FaultEnv() = default;

void FaultEnv::HoldSyncs(bool hold) {
  const std::lock_guard<std::mutex> lock(faults_->mutex);
  faults_->hold_syncs = hold;
  faults_->changed.notify_all();
}

void FaultEnv::AwaitHeldSync() {
  std::unique_lock<std::mutex> lock(faults_->mutex);
  faults_->changed.wait(lock, [this] { return faults_->hold_syncs && faults_->held_syncs > 0; });
}

void FaultEnv::BeforeEachSync(std::function<void()> action) {
  const std::lock_guard<std::mutex> lock(faults_->mutex);
  faults_->before_sync = std::move(action);
}

void FaultEnv::BeforeNextRead(std::function<void()> action) {
  const std::lock_guard<std::mutex> lock(faults_->mutex);
  faults_->before_read = std::move(action);
}

void FaultEnv::FailFrom(Fault fault, int nth) {
  const std::lock_guard<std::mutex> lock(faults_->mutex);
  faults_->fault = fault;
  faults_->until_fault = nth;
}

void FaultEnv::DropUnsynced() {
  const std::lock_guard<std::mutex> lock(faults_->mutex);
  for (const auto& [name, synced] : faults_->synced_bytes) {
    std::string contents;
    if (!leveldb::ReadFileToString(target(), name, &contents).ok()) continue;
    if (contents.size() <= synced) continue;
    contents.resize(synced);
    leveldb::WriteStringToFile(target(), contents, name);
  }
}

leveldb::Status FaultEnv::NewRandomAccessFile(const std::string& name,
                                              leveldb::RandomAccessFile** result) {
  leveldb::RandomAccessFile* file = nullptr;
  const leveldb::Status status = target()->NewRandomAccessFile(name, &file);
  *result = status.ok() ? new CountedFile(file, faults_) : nullptr;
  return status;
}

leveldb::Status FaultEnv::NewWritableFile(const std::string& name, leveldb::WritableFile** result) {
  leveldb::WritableFile* file = nullptr;
  const leveldb::Status status = target()->NewWritableFile(name, &file);
  *result = status.ok() ? new FaultFile(name, 0, file, faults_) : nullptr;
  const std::lock_guard<std::mutex> lock(faults_->mutex);
  if (status.ok()) faults_->synced_bytes[name] = 0;
  return status;
}

leveldb::Status FaultEnv::NewAppendableFile(const std::string& name,
                                            leveldb::WritableFile** result) {
  uint64_t size = 0;
  target()->GetFileSize(name, &size);
  leveldb::WritableFile* file = nullptr;
  const leveldb::Status status = target()->NewAppendableFile(name, &file);
  *result = status.ok() ? new FaultFile(name, size, file, faults_) : nullptr;
  return status;
}

leveldb::Status FaultEnv::RenameFile(const std::string& from, const std::string& to) {
  const std::lock_guard<std::mutex> lock(faults_->mutex);
  const auto synced = faults_->synced_bytes.find(from);
  if (synced != faults_->synced_bytes.end()) {
    faults_->synced_bytes[to] = synced->second;
    faults_->synced_bytes.erase(synced);
  }
  return target()->RenameFile(from, to);
}

leveldb::Status FaultEnv::RemoveFile(const std::string& name) {
  const std::lock_guard<std::mutex> lock(faults_->mutex);
  faults_->synced_bytes.erase(name);
  return target()->RemoveFile(name);
}

}  // namespace ttl
