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

// What to run and how.
struct SubprocessOptions {
  // Path of the program (no search along PATH), then its arguments.
  std::vector<std::string> argv;
  // Set on top of the environment of this process.
  std::map<std::string, std::string> env;
  // File that standard output and standard error are appended to; empty
  // discards them.
  std::string output_path;
  // Taken for standard error in place of that, if it is not negative; stays the caller's.
  int error_fd = -1;
};

// How a process ended.
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

  // Whether it has not ended yet; a stopped process is running.
  bool IsRunning();

  // Sends a signal (SIGTERM, SIGHUP, ...) and does not wait for what it does.
  // FailedPrecondition if the process has ended.
  absl::Status Signal(int signal);

  // SIGSTOP. When it returns, no thread of the process runs until Resume: the
  // signal alone would let them go on for a while on a busy machine. No effect
  // on a suspended process; FailedPrecondition if the process has ended.
  absl::Status Suspend();
  absl::Status Resume();

  // Waits for the end of the process. DeadlineExceeded if it is still running
  // then.
  absl::StatusOr<ExitStatus> Wait(absl::Duration deadline);

  // SIGKILL, then waits for the end. No effect on a process that has ended.
  void Kill();

 private:
  explicit Subprocess(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
  std::optional<ExitStatus> exit_status_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_PROCESS_H_
