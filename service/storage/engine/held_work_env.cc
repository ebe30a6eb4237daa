#include "service/storage/engine/held_work_env.h"

#include <utility>

namespace ttl {

void HeldWorkEnv::Schedule(void (*function)(void*), void* argument) {
  {
    MutexLock lock(mutex_);
    if (held_) {
      waiting_.push_back({function, argument});
      return;
    }
  }
  target()->Schedule(function, argument);
}

HeldWorkEnv::Hold::Hold(HeldWorkEnv& env) : env_(env) {
  MutexLock lock(env_.mutex_);
  env_.held_ = true;
}

HeldWorkEnv::Hold::~Hold() {
  std::vector<Work> waiting;
  {
    MutexLock lock(env_.mutex_);
    env_.held_ = false;
    waiting = std::exchange(env_.waiting_, {});
  }
  for (const Work& work : waiting) env_.target()->Schedule(work.function, work.argument);
}

}  // namespace ttl
