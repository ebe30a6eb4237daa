#include "service/process/child_command.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace ttl {
namespace {

constexpr int kCannotRun = 127;
constexpr int kEndedBySignal = 128;

volatile std::sig_atomic_t child = 0;
volatile std::sig_atomic_t is_told_to_end = 0;

void PassOn(int /*signal*/) {
  is_told_to_end = 1;
  if (child > 0) kill(child, SIGTERM);
}

// How a signal is taken for as long as this lives.
class SignalAction {
 public:
  SignalAction(int signal, void (*handler)(int)) : signal_(signal) {
    struct sigaction action = {};
    action.sa_handler = handler;
    sigaction(signal, &action, &former_);
  }
  ~SignalAction() { sigaction(signal_, &former_, nullptr); }
  // A child takes it as we did: ignored, as under nohup, or by default.
  void AddDefault(sigset_t& defaults) const {
    if (former_.sa_handler != SIG_IGN) sigaddset(&defaults, signal_);
  }
  SignalAction(const SignalAction&) = delete;
  SignalAction& operator=(const SignalAction&) = delete;

 private:
  const int signal_;
  struct sigaction former_ = {};
};

// A child begins with the signals that are blocked at its start, so none is, even if ours are held.
class UnblockedSignals {
 public:
  UnblockedSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_UNBLOCK, &signals, &former_);
  }
  ~UnblockedSignals() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  UnblockedSignals(const UnblockedSignals&) = delete;
  UnblockedSignals& operator=(const UnblockedSignals&) = delete;

 private:
  sigset_t former_;
};

// 0: it runs.
int Spawn(const std::vector<std::string>& arguments, const sigset_t& defaults, pid_t& pid) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawnp(&pid, argv[0], nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

int RunChildCommand(const std::vector<std::string>& arguments) {
  child = 0;
  is_told_to_end = 0;
  const SignalAction interrupt(SIGINT, SIG_IGN);
  const SignalAction quit(SIGQUIT, SIG_IGN);
  const SignalAction hang_up(SIGHUP, SIG_IGN);
  const SignalAction terminate(SIGTERM, PassOn);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const SignalAction* action : {&interrupt, &quit, &hang_up, &terminate}) {
    action->AddDefault(defaults);
  }
  const UnblockedSignals unblocked;
  pid_t pid = 0;
  if (Spawn(arguments, defaults, pid) != 0) return kCannotRun;
  child = pid;
  // It came before there was somebody to pass it on to.
  if (is_told_to_end != 0) kill(pid, SIGTERM);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kEndedBySignal + WTERMSIG(status);
}

}  // namespace ttl
