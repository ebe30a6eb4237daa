// The queue is one string, to which Write() appends under a lock that is never held for long. The
// thread takes the whole string and writes it in pieces. Once a line is lost, all following lines
// are lost until the thread takes the queue: so lines are missing in one place only, the end of
// what it took, and the line that says so goes there.

#include "service/log/log_writer.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "service/base/mutex.h"
#include "service/log/log_output.h"

namespace ttl {
namespace {

// How long the thread waits for a full pipe before it checks whether it is to end.
constexpr absl::Duration kLookInterval = absl::Milliseconds(100);

// Retry interval after a failure whose end is not signalled, such as a full disk.
constexpr std::chrono::milliseconds kRetryInterval(200);

// As many whole lines as can be written to a pipe atomically; of a longer line the first part.
absl::string_view NextPiece(absl::string_view rest) {
  if (rest.size() <= PIPE_BUF) return rest;
  const size_t last_end = rest.substr(0, PIPE_BUF).rfind('\n');
  return rest.substr(0, last_end == absl::string_view::npos ? PIPE_BUF : last_end + 1);
}

std::string Reason(int error) {
  if (error == EAGAIN) return "it is not read as fast as it is written";
  return std::generic_category().message(error);
}

// Blocks all signals while in scope, so that a thread created meanwhile never receives any, not
// even SIGPIPE and SIGXFSZ of its own writes.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

struct LogWriter::State {
  State(int descriptor, LossLine line) : output(descriptor), loss_line(std::move(line)) {}

  void Run();
  bool IsQuiet() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return queue.empty() && lost == 0; }
  // Waits for lines and takes them all. Returns false if the writer ends and there are none.
  bool Take(std::string& batch);
  // Returns false if the writer ends and cannot write now.
  bool WriteAll(absl::string_view batch);
  // Returns whether to retry.
  bool AwaitRetry(int error);

  LogOutput output;  // used by the thread only
  const LossLine loss_line;
  std::atomic<bool> has_unwritten = false;
  std::atomic<int64_t> lost_lines = 0;

  Mutex mutex;
  CondVar changed;
  CondVar ending;
  std::string queue ABSL_GUARDED_BY(mutex);
  int64_t lost ABSL_GUARDED_BY(mutex) = 0;  // since the last loss line
  // Why the last batch was not written at once. If it was, lines were lost because writing was too
  // slow.
  std::string trouble ABSL_GUARDED_BY(mutex) = Reason(EAGAIN);
  bool is_ending ABSL_GUARDED_BY(mutex) = false;
};

LogWriter::LogWriter(int descriptor, LossLine loss_line)
    : state_(std::make_shared<State>(descriptor, std::move(loss_line))) {
  const SignalsBlocked blocked;
  std::thread([state = state_] { state->Run(); }).detach();
}

LogWriter::~LogWriter() {
  MutexLock lock(state_->mutex);
  state_->is_ending = true;
  state_->changed.NotifyAll();
  state_->ending.NotifyAll();
}

void LogWriter::Write(absl::string_view line) {
  MutexLock lock(state_->mutex);
  if (state_->lost > 0 || state_->queue.size() + line.size() > kMaxQueuedBytes) {
    ++state_->lost;
    ++state_->lost_lines;
  } else {
    state_->queue.append(line.data(), line.size());
  }
  state_->has_unwritten = true;
  state_->changed.NotifyAll();
}

bool LogWriter::Drain(absl::Duration timeout) {
  const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(timeout);
  MutexLock lock(state_->mutex);
  while (state_->has_unwritten) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) return false;
    state_->changed.WaitFor(state_->mutex, left);
  }
  return true;
}

bool LogWriter::HasUnwritten() const { return state_->has_unwritten; }

int64_t LogWriter::lost_lines() const { return state_->lost_lines; }

void LogWriter::State::Run() {
  std::string batch;
  while (Take(batch) && WriteAll(batch)) continue;
}

bool LogWriter::State::Take(std::string& batch) {
  MutexLock lock(mutex);
  if (IsQuiet()) {
    has_unwritten = false;
    changed.NotifyAll();
  }
  while (IsQuiet() && !is_ending) changed.Wait(mutex);
  if (IsQuiet()) return false;
  batch.clear();
  batch.swap(queue);
  const std::string reason = std::exchange(trouble, Reason(EAGAIN));
  if (lost > 0) batch += loss_line(std::exchange(lost, 0), reason);
  return true;
}

bool LogWriter::State::WriteAll(absl::string_view batch) {
  while (!batch.empty()) {
    const ssize_t result = output.Write(NextPiece(batch));
    if (result > 0) {
      batch.remove_prefix(static_cast<size_t>(result));
    } else if (!AwaitRetry(static_cast<int>(-result))) {
      return false;
    }
  }
  return true;
}

bool LogWriter::State::AwaitRetry(int error) {
  if (error == EAGAIN) output.AwaitRoom(kLookInterval);
  MutexLock lock(mutex);
  trouble = Reason(error);
  if (error != EAGAIN && error != EINTR && !is_ending) ending.WaitFor(mutex, kRetryInterval);
  return !is_ending;
}

}  // namespace ttl
