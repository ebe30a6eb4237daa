#include "tests/testing/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/wait.h"

extern char** environ;

namespace ttl {
namespace {

std::vector<std::string> Environment(const std::map<std::string, std::string>& overrides) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, strcspn(*entry, "="));
    if (!overrides.contains(name)) result.push_back(*entry);
  }
  for (const auto& [name, value] : overrides) result.push_back(absl::StrCat(name, "=", value));
  return result;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

// Runs in the child of a process with many threads: only async-signal-safe
// calls, no allocation. Reports errno through `error_pipe`, which exec closes.
[[noreturn]] void ExecChild(char* const* argv, char* const* envp, int output, int error,
                            int error_pipe, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // A shell has its background jobs ignore these, and so would the program.
  signal(SIGINT, SIG_DFL);
  signal(SIGQUIT, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == parent) {
    const int input = open("/dev/null", O_RDONLY);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    execve(argv[0], argv, envp);
  }
  const int exec_error = errno;
  [[maybe_unused]] const ssize_t written = write(error_pipe, &exec_error, sizeof(exec_error));
  _exit(127);
}

// 0 if the child reached exec, else the errno it reported.
int ReadExecError(int error_pipe) {
  int error = 0;
  ssize_t n;
  do {
    n = read(error_pipe, &error, sizeof(error));
  } while (n < 0 && errno == EINTR);
  return n == sizeof(error) ? error : 0;
}

ExitStatus FromWaitStatus(int status) {
  if (WIFEXITED(status)) return {.code = WEXITSTATUS(status), .signal = std::nullopt};
  return {.code = std::nullopt, .signal = WTERMSIG(status)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Subprocess>> Subprocess::Start(const SubprocessOptions& options) {
  if (options.argv.empty()) return absl::InvalidArgumentError("argv is empty: name a program");
  std::vector<std::string> arguments = options.argv;
  std::vector<std::string> environment = Environment(options.env);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  const std::string output_path = options.output_path.empty() ? "/dev/null" : options.output_path;
  // A terminal must not become that of this process.
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY;
  const int output = open(output_path.c_str(), flags, 0644);
  if (output < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", output_path));
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) {
    close(output);
    return absl::ErrnoToStatus(errno, "pipe2");
  }
  const int error = options.error_fd < 0 ? output : options.error_fd;
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) ExecChild(argv.data(), envp.data(), output, error, error_pipe[1], parent);
  const int fork_error = errno;
  close(output);
  close(error_pipe[1]);
  const int exec_error = pid < 0 ? fork_error : ReadExecError(error_pipe[0]);
  close(error_pipe[0]);
  if (pid < 0) return absl::ErrnoToStatus(exec_error, "fork");
  std::unique_ptr<Subprocess> process(new Subprocess(pid));
  if (exec_error != 0) {
    return absl::ErrnoToStatus(exec_error, absl::StrCat("cannot execute ", options.argv[0]));
  }
  return process;
}

Subprocess::~Subprocess() { Kill(); }

bool Subprocess::IsRunning() {
  if (exit_status_.has_value()) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  exit_status_ = FromWaitStatus(status);
  return false;
}

absl::Status Subprocess::Signal(int signal) {
  if (!IsRunning()) return absl::FailedPreconditionError("the process has ended");
  if (kill(pid_, signal) != 0) return absl::ErrnoToStatus(errno, "kill");
  return absl::OkStatus();
}

absl::Status Subprocess::Suspend() {
  if (absl::Status signalled = Signal(SIGSTOP); !signalled.ok()) return signalled;
  siginfo_t change;
  // WNOWAIT leaves an end for IsRunning to see, and a stop for another Suspend.
  while (waitid(P_PID, static_cast<id_t>(pid_), &change, WSTOPPED | WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) return absl::ErrnoToStatus(errno, "waitid");
  }
  if (change.si_code == CLD_STOPPED) return absl::OkStatus();
  return absl::FailedPreconditionError("the process has ended");
}

absl::Status Subprocess::Resume() { return Signal(SIGCONT); }

absl::StatusOr<ExitStatus> Subprocess::Wait(absl::Duration deadline) {
  if (!WaitUntil([this] { return !IsRunning(); }, deadline, absl::Milliseconds(2))) {
    return absl::DeadlineExceededError(
        absl::StrCat("still running after ", absl::FormatDuration(deadline)));
  }
  return *exit_status_;
}

void Subprocess::Kill() {
  if (!IsRunning()) return;
  kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  exit_status_ = FromWaitStatus(status);
}

}  // namespace ttl
