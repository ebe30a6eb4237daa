#ifndef TTL_TESTS_TESTING_FAULT_ENV_H_
#define TTL_TESTS_TESTING_FAULT_ENV_H_

#include <leveldb/env.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace ttl {

// A file system in memory whose reads and writes can be made to fail. Data written before a failure
// stays.
// Thread-safe.
class FaultEnv : public leveldb::EnvWrapper {
 public:
  FaultEnv();
  ~FaultEnv() override;

  // Makes all appends and syncs of files fail, or work again.
  void FailWrites(bool fail) { faults_->fail_writes = fail; }

  // How a chosen write fails. All writes after it fail too, until FailWrites(false).
  enum class Fault {
    kFailedSync,  // a sync; what was appended is there, but not durable
    kShortWrite,  // an append; half of it is there
    kNoSpace,     // an append; nothing of it is there
  };

  // Makes the `nth` sync (for kFailedSync) or append from now on fail; 1 is the next.
  void FailFrom(Fault fault, int nth);

  // A power failure: drops unsynced data. REQUIRES: no file is open.
  void DropUnsynced();

  // Makes syncs of files block, or proceed.
  void HoldSyncs(bool hold);
  // Waits until a sync is blocked.
  void AwaitHeldSync();

  // Makes all random reads fail, or work again.
  void FailReads(bool fail) { faults_->fail_reads = fail; }

  // The number of random reads, such as those of table blocks.
  int64_t reads() const { return faults_->reads; }

  // Runs `action` on the syncing thread before each sync from now on.
  void BeforeEachSync(std::function<void()> action);

  // Runs `action` on the reading thread before the next random read.
  void BeforeNextRead(std::function<void()> action);

  // State shared with the files.
  struct Faults {
    std::atomic<bool> fail_writes = false;
    std::atomic<bool> fail_reads = false;
    std::atomic<int64_t> reads = 0;
    std::mutex mutex;
    std::condition_variable changed;
    // All guarded by mutex.
    std::function<void()> before_sync;
    bool hold_syncs = false;
    int held_syncs = 0;
    Fault fault = Fault::kNoSpace;
    int until_fault = 0;                           // 0: none is planned
    std::map<std::string, uint64_t> synced_bytes;  // by name
    std::function<void()> before_read;
  };

  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** result) override;
  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** result) override;
  leveldb::Status NewAppendableFile(const std::string& name,
                                    leveldb::WritableFile** result) override;
  leveldb::Status RenameFile(const std::string& from, const std::string& to) override;
  leveldb::Status RemoveFile(const std::string& name) override;

 private:
  explicit FaultEnv(leveldb::Env* memory);

  std::unique_ptr<leveldb::Env> memory_;
  const std::shared_ptr<Faults> faults_ = std::make_shared<Faults>();
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_FAULT_ENV_H_
