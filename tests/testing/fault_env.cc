#include "tests/testing/fault_env.h"

#include <leveldb/helpers/memenv.h>

namespace ttl {
namespace {

class FaultFile : public leveldb::WritableFile {
 public:
  FaultFile(leveldb::WritableFile* file, std::shared_ptr<std::atomic<bool>> fail)
      : file_(file), fail_(std::move(fail)) {}

  leveldb::Status Append(const leveldb::Slice& data) override {
    return *fail_ ? Failure() : file_->Append(data);
  }
  leveldb::Status Close() override { return file_->Close(); }
  leveldb::Status Flush() override { return *fail_ ? Failure() : file_->Flush(); }
  leveldb::Status Sync() override { return *fail_ ? Failure() : file_->Sync(); }

 private:
  static leveldb::Status Failure() { return leveldb::Status::IOError("injected", "write fails"); }

  std::unique_ptr<leveldb::WritableFile> file_;
  std::shared_ptr<std::atomic<bool>> fail_;
};

}  // namespace

FaultEnv::FaultEnv() : FaultEnv(leveldb::NewMemEnv(leveldb::Env::Default())) {}
FaultEnv::FaultEnv(leveldb::Env* memory) : EnvWrapper(memory), memory_(memory) {}
FaultEnv::~FaultEnv() = default;

leveldb::Status FaultEnv::NewWritableFile(const std::string& name, leveldb::WritableFile** result) {
  leveldb::WritableFile* file = nullptr;
  const leveldb::Status status = target()->NewWritableFile(name, &file);
  *result = status.ok() ? new FaultFile(file, fail_writes_) : nullptr;
  return status;
}

leveldb::Status FaultEnv::NewAppendableFile(const std::string& name,
                                            leveldb::WritableFile** result) {
  leveldb::WritableFile* file = nullptr;
  const leveldb::Status status = target()->NewAppendableFile(name, &file);
  *result = status.ok() ? new FaultFile(file, fail_writes_) : nullptr;
  return status;
}

}  // namespace ttl
