#include "service/process/thread_check.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

// Threads of gRPC 1.51: timers, executors, the resolver, and a reserve by the number of cores.
int ThreadsOfGrpc() {
  constexpr int kFixed = 6;
  return kFixed + std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 2, 32);
}

// Threads that run until this is destroyed.
class IdleThreads {
 public:
  IdleThreads() { pthread_mutex_lock(&gate_); }
  ~IdleThreads() {
    pthread_mutex_unlock(&gate_);
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
    pthread_mutex_destroy(&gate_);
  }
  IdleThreads(const IdleThreads&) = delete;
  IdleThreads& operator=(const IdleThreads&) = delete;

  // Starts a thread. Returns 0 or an errno.
  int Add() {
    pthread_t thread;
    const int error = pthread_create(&thread, nullptr, Idle, &gate_);
    if (error == 0) threads_.push_back(thread);
    return error;
  }

 private:
  static void* Idle(void* gate) {
    pthread_mutex_lock(static_cast<pthread_mutex_t*>(gate));
    pthread_mutex_unlock(static_cast<pthread_mutex_t*>(gate));
    return nullptr;
  }

  pthread_mutex_t gate_ = PTHREAD_MUTEX_INITIALIZER;
  std::vector<pthread_t> threads_;
};

// 0 if unknown.
int64_t CountThreads() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  return error ? 0 : std::distance(threads, std::filesystem::directory_iterator());
}

absl::Status StartAndEnd(int count) {
  IdleThreads threads;
  for (int started = 0; started < count; ++started) {
    const int error = threads.Add();
    if (error == 0) continue;
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot start ", count, " threads, only ", started, ": ",
        std::generic_category().message(error),
        "; raise the limit of processes (ulimit -u, RLIMIT_NPROC) or of the control group "
        "(pids.max)"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckThreads(int own) {
  constexpr int kMaxLooks = 1000;
  const int64_t before = CountThreads();
  absl::Status status = StartAndEnd(own + ThreadsOfGrpc());
  // A joined thread still counts against the limit for a short time.
  for (int looks = 0; CountThreads() > before && looks < kMaxLooks; ++looks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

}  // namespace ttl
