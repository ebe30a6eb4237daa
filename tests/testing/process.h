#ifndef TTL_TESTS_TESTING_PROCESS_H_
#define TTL_TESTS_TESTING_PROCESS_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ttl {

// Options of a child process.
struct SubprocessOptions {
  // The path of the program (PATH is not searched), then its arguments.
  std::vector<std::string> argv;
  // Added to the environment of this process.
  std::map<std::string, std::string> env;
  // File to which standard output and standard error are appended; if empty, they are discarded.
  std::string output_path;
  // If not negative, the descriptor for standard error; remains owned by the caller.
  int error_fd = -1;
};

// How a process has ended.
struct ExitStatus {
  // The exit code; absent if a signal ended the process.
  std::optional<int> code;
  // The signal that ended the process; absent if it exited.
  std::optional<int> signal;

  bool Succeeded() const { return code == 0; }
};

// A child process, killed (SIGKILL) and reaped on destruction. The kernel also
// kills it when the thread that started it ends, so that no child outlives a
// test that crashes: start it from a thread that lives as long as it should.
// SIGINT and SIGQUIT end it, even where this process ignores them.
//
// Not thread-safe; one thread at a time may use an object.
class Subprocess {
 public:
  // Starts the program. Fails if it cannot be executed.
  static absl::StatusOr<std::unique_ptr<Subprocess>> Start(const SubprocessOptions& options);

  ~Subprocess();

  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }

  // Whether the process has not ended yet; a stopped process counts as running.
  bool IsRunning();

  // Sends a signal (SIGTERM, SIGHUP, ...) without waiting for its effect. FAILED_PRECONDITION if
  // the process has ended.
  absl::Status Signal(int signal);

  // Sends SIGSTOP and waits until no thread of the process runs, since the signal alone would let
  // them run for a while on a busy machine. They run again after Resume(). No effect on a suspended
  // process; FAILED_PRECONDITION if the process has ended.
  absl::Status Suspend();
  absl::Status Resume();

  // Waits for the end of the process. DEADLINE_EXCEEDED if it is still running at the deadline.
  absl::StatusOr<ExitStatus> Wait(absl::Duration deadline);

  // Sends SIGKILL and waits for the end. No effect on a process that has ended.
  void Kill();

 private:
  explicit Subprocess(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
  std::optional<ExitStatus> exit_status_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_PROCESS_H_
