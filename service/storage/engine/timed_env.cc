#include "service/storage/engine/timed_env.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "service/base/stopwatch.h"

namespace ttl {
namespace {

class TimedFile final : public leveldb::WritableFile {
 public:
  TimedFile(std::unique_ptr<leveldb::WritableFile> file, OwnedDurationDistribution& syncs)
      : file_(std::move(file)), syncs_(syncs) {}

  leveldb::Status Append(const leveldb::Slice& data) override { return file_->Append(data); }
  leveldb::Status Close() override { return file_->Close(); }
  leveldb::Status Flush() override { return file_->Flush(); }
  leveldb::Status Sync() override {
    const Stopwatch stopwatch;
    leveldb::Status status = file_->Sync();
    syncs_.Add(stopwatch.Nanoseconds());
    return status;
  }

 private:
  const std::unique_ptr<leveldb::WritableFile> file_;
  OwnedDurationDistribution& syncs_;
};

// Wraps `file` in one that measures syncs, if it is a log. Tables are synced by compactions, for
// which no caller waits.
void TimeLog(const std::string& name, OwnedDurationDistribution& syncs,
             leveldb::WritableFile** file) {
  if (!absl::EndsWith(name, ".log")) return;
  *file = new TimedFile(std::unique_ptr<leveldb::WritableFile>(*file), syncs);
}

}  // namespace

leveldb::Status TimedEnv::NewWritableFile(const std::string& name, leveldb::WritableFile** file) {
  leveldb::Status status = target()->NewWritableFile(name, file);
  if (status.ok()) TimeLog(name, syncs_, file);
  return status;
}

leveldb::Status TimedEnv::NewAppendableFile(const std::string& name, leveldb::WritableFile** file) {
  leveldb::Status status = target()->NewAppendableFile(name, file);
  if (status.ok()) TimeLog(name, syncs_, file);
  return status;
}

}  // namespace ttl
