#include "service/server/stop_signals.h"

#include <spdlog/spdlog.h>
#include <string.h>
#include <unistd.h>

#include <cstdint>

namespace ttl {
namespace {

// SIGALRM is the watch's own: the deadline has passed, or the watch may end.
sigset_t WatchedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGALRM);
  return signals;
}

}  // namespace

StopSignals::StopSignals(absl::Duration deadline)
    : deadline_(deadline), signals_(WatchedSignals()) {
  signal(SIGPIPE, SIG_IGN);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  watcher_ = std::thread([this] { Watch(); });
}

StopSignals::~StopSignals() {
  done_ = true;
  pthread_kill(watcher_.native_handle(), SIGALRM);
  watcher_.join();
}

void StopSignals::Wait() {
  MutexLock lock(mutex_);
  while (!stopping_) condition_.Wait(mutex_);
}

void StopSignals::Watch() {
  int first = 0;
  sigwait(&signals_, &first);
  if (done_) return;
  spdlog::info("stopping: signal={} deadline_seconds={}", sigabbrev_np(first),
               absl::ToInt64Seconds(deadline_));
  alarm(static_cast<unsigned>(absl::ToInt64Seconds(deadline_)));
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    condition_.NotifyAll();
  }
  int second = 0;
  sigwait(&signals_, &second);
  if (done_) return;
  if (second == SIGALRM) {
    spdlog::error("not stopped within the deadline, exiting: deadline_seconds={}",
                  absl::ToInt64Seconds(deadline_));
  } else {
    spdlog::error("second signal while stopping, exiting: signal={}", sigabbrev_np(second));
  }
  _exit(1);
}

}  // namespace ttl
