#ifndef TTL_TESTS_TESTING_FAULT_ENV_H_
#define TTL_TESTS_TESTING_FAULT_ENV_H_

#include <leveldb/env.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace ttl {

// A file system in memory whose writes can be made to fail. What was written
// before a failure stays. Thread-safe.
class FaultEnv : public leveldb::EnvWrapper {
 public:
  FaultEnv();
  ~FaultEnv() override;

  // From now on appends and syncs of files fail, or work again.
  void FailWrites(bool fail) { *fail_writes_ = fail; }

  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** result) override;
  leveldb::Status NewAppendableFile(const std::string& name,
                                    leveldb::WritableFile** result) override;

 private:
  explicit FaultEnv(leveldb::Env* memory);

  std::unique_ptr<leveldb::Env> memory_;
  std::shared_ptr<std::atomic<bool>> fail_writes_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_FAULT_ENV_H_
