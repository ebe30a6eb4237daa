#ifndef TTL_SERVICE_STORAGE_ENGINE_HELD_WORK_ENV_H_
#define TTL_SERVICE_STORAGE_ENGINE_HELD_WORK_ENV_H_

#include <leveldb/env.h>

#include <vector>

#include "absl/base/thread_annotations.h"
#include "service/base/mutex.h"

namespace ttl {

// An Env that can delay compactions: LevelDB schedules the first of them before its Open() returns.
// Thread-safe.
class HeldWorkEnv final : public leveldb::EnvWrapper {
 public:
  // `target` must outlive this.
  explicit HeldWorkEnv(leveldb::Env* target) : EnvWrapper(target) {}

  // Passes the work on, or delays it while there is a Hold.
  void Schedule(void (*function)(void*), void* argument) override;

  // Work scheduled during its life starts when it is destroyed. One at a time. REQUIRES: no
  // database is closed meanwhile, because it would wait for its own work for ever.
  class Hold {
   public:
    explicit Hold(HeldWorkEnv& env);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    HeldWorkEnv& env_;
  };

 private:
  struct Work {
    void (*function)(void*);
    void* argument;
  };

  Mutex mutex_;
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Work> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_HELD_WORK_ENV_H_
