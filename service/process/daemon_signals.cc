#include "service/process/daemon_signals.h"

#include <spdlog/spdlog.h>
#include <string.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

#include "service/log/log.h"

namespace ttl {
namespace {

// SIGALRM is internal: the deadline has passed, or the watcher is to end.
sigset_t WatchedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGALRM}) sigaddset(&signals, signal);
  return signals;
}

int NextSignal(const sigset_t& signals) {
  int signal = 0;
  sigwait(&signals, &signal);
  return signal;
}

}  // namespace

DaemonSignals::DaemonSignals(absl::Duration stop_deadline)
    : stop_deadline_(stop_deadline), signals_(WatchedSignals()) {
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  watcher_ = std::thread([this] { Watch(); });
}

DaemonSignals::~DaemonSignals() {
  done_ = true;
  pthread_kill(watcher_.native_handle(), SIGALRM);
  watcher_.join();
}

std::optional<DaemonSignals::Request> DaemonSignals::Next(absl::Duration timeout) {
  const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(timeout);
  MutexLock lock(mutex_);
  while (!stop_ && !reload_) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) return std::nullopt;
    requested_.WaitFor(mutex_, left);
  }
  if (stop_) return Request::kStop;
  reload_ = false;
  return Request::kReload;
}

DaemonSignals::Request DaemonSignals::Next() {
  while (true) {
    if (const auto request = Next(absl::Hours(1)); request.has_value()) return *request;
  }
}

void DaemonSignals::Watch() {
  int signal = NextSignal(signals_);
  for (; signal == SIGHUP; signal = NextSignal(signals_)) RequestReload();
  if (done_) return;
  RequestStop(signal);
  do {
    signal = NextSignal(signals_);
  } while (signal == SIGHUP);
  if (done_) return;
  if (signal == SIGALRM) {
    spdlog::error("not stopped within the deadline, exiting: deadline_seconds={}",
                  absl::ToInt64Seconds(stop_deadline_));
  } else {
    spdlog::error("second signal while stopping, exiting: signal={}", sigabbrev_np(signal));
  }
  Log::Drain();
  _exit(1);
}

void DaemonSignals::RequestReload() {
  MutexLock lock(mutex_);
  reload_ = true;
  requested_.NotifyAll();
}

// The alarm first, so that nothing after it can keep the process from ending.
void DaemonSignals::RequestStop(int signal) {
  alarm(static_cast<unsigned>(absl::ToInt64Seconds(stop_deadline_)));
  {
    MutexLock lock(mutex_);
    stop_ = true;
    requested_.NotifyAll();
  }
  spdlog::info("stopping: signal={} deadline_seconds={}", sigabbrev_np(signal),
               absl::ToInt64Seconds(stop_deadline_));
}

}  // namespace ttl
