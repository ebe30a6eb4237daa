#ifndef TTL_SERVICE_STORAGE_ENGINE_TIMED_ENV_H_
#define TTL_SERVICE_STORAGE_ENGINE_TIMED_ENV_H_

#include <leveldb/env.h>

#include <string>

#include "service/base/distribution.h"

namespace ttl {

// An Env that measures the syncs of LevelDB's log, which are mostly the fsync; LevelDB itself
// measures only whole writes. One log is written at a time.
class TimedEnv final : public leveldb::EnvWrapper {
 public:
  // `target` must outlive this.
  explicit TimedEnv(leveldb::Env* target) : EnvWrapper(target) {}

  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** file) override;
  leveldb::Status NewAppendableFile(const std::string& name, leveldb::WritableFile** file) override;

  DurationDistribution Syncs() const { return syncs_.Get(); }

 private:
  OwnedDurationDistribution syncs_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_TIMED_ENV_H_
