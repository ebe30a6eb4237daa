#include <gtest/gtest.h>
#include <leveldb/env.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "service/storage/engine/held_work_env.h"
#include "service/storage/storage.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

// The first compaction after Arm() stops at the first byte of its table, until somebody
// asks for the length of that table or Release() is called. Whoever lists files after a
// compaction was scheduled waits until it is there.
class SlowCompactionEnv final : public leveldb::EnvWrapper {
 public:
  SlowCompactionEnv() : EnvWrapper(leveldb::Env::Default()) {}

  void Arm() { armed_ = true; }
  bool scheduled() const { return scheduled_; }
  void Release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

  void Schedule(void (*function)(void*), void* argument) override {
    if (armed_) scheduled_ = true;
    target()->Schedule(function, argument);
  }

  leveldb::Status GetChildren(const std::string& directory,
                              std::vector<std::string>* names) override {
    if (scheduled_) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return !table_.empty() || released_; });
    }
    return target()->GetChildren(directory, names);
  }

  leveldb::Status GetFileSize(const std::string& name, uint64_t* bytes) override {
    const leveldb::Status status = target()->GetFileSize(name, bytes);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (name == table_) released_ = true;
    changed_.notify_all();
    return status;
  }

  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** file) override {
    const leveldb::Status status = target()->NewWritableFile(name, file);
    if (!scheduled_ || !absl::EndsWith(name, ".ldb")) return status;
    std::unique_lock<std::mutex> lock(mutex_);
    table_ = name;
    changed_.notify_all();
    changed_.wait(lock, [this] { return released_; });
    return status;
  }

 private:
  std::atomic<bool> armed_ = false;
  std::atomic<bool> scheduled_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool released_ = false;
  std::string table_;
};

TEST(CompactionAtStartTest, TheTableItIsStillWritingIsNotTakenForADamagedOne) {
  TempDir directory;
  SlowCompactionEnv env;
  StorageOptions options;
  options.directory = directory.File("db");
  options.env = &env;
  // Each opening makes one table of the log; LevelDB merges them once there are four.
  for (int i = 0; i < 4; ++i) {
    const auto storage = Storage::Open(options);
    ASSERT_TRUE(storage.ok()) << storage.status();
    const std::string name = absl::StrCat("c", i);
    ASSERT_TRUE(Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
                  (*storage)->containers().Create(name, {}, kTestNow, std::move(done));
                }).ok());
  }
  env.Arm();
  const auto storage = Storage::Open(options);
  EXPECT_TRUE(storage.ok()) << storage.status();
  EXPECT_TRUE(env.scheduled());
  env.Release();
}

class HeldWorkEnvTest : public testing::Test {
 protected:
  // Tells what was scheduled and does none of it.
  class Recorder final : public leveldb::EnvWrapper {
   public:
    Recorder() : EnvWrapper(leveldb::Env::Default()) {}
    void Schedule(void (*)(void*), void* argument) override { scheduled.push_back(argument); }
    std::vector<void*> scheduled;
  };

  void Schedule(int& work) {
    env_.Schedule([](void*) {}, &work);
  }

  Recorder target_;
  HeldWorkEnv env_{&target_};
  int first_ = 0;
  int second_ = 0;
};

TEST_F(HeldWorkEnvTest, WorkIsPassedOnAtOnceWhenNothingHoldsIt) {
  Schedule(first_);
  EXPECT_EQ(target_.scheduled, (std::vector<void*>{&first_}));
}

TEST_F(HeldWorkEnvTest, HeldWorkIsPassedOnInItsOrderWhenTheHoldEnds) {
  {
    const HeldWorkEnv::Hold hold(env_);
    Schedule(first_);
    Schedule(second_);
    EXPECT_TRUE(target_.scheduled.empty());
  }
  EXPECT_EQ(target_.scheduled, (std::vector<void*>{&first_, &second_}));
  Schedule(first_);
  EXPECT_EQ(target_.scheduled.size(), 3u);
}

}  // namespace
}  // namespace ttl
