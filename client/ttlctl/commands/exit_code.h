#ifndef TTL_CLIENT_TTLCTL_COMMANDS_EXIT_CODE_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_EXIT_CODE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ttl {

// How a run of ttlctl ended. Scripts rely on the numbers: never change one.
enum class ExitCode : int {
  kOk = 0,
  // The server refused the request, a line of a file is invalid, a number is too large for its
  // field, or the output or a backup could not be written.
  kRefused = 1,
  // The command line is wrong; nothing was sent.
  kUsage = 2,
  // The container, item, hold or subscription does not exist.
  kNotFound = 3,
  // The server could not be reached, or did not respond in time.
  kUnreachable = 4,
  // items check and touch: at least one item is expired.
  kExpired = 5,
  // items check and touch: none is expired, but at least one is not tracked.
  kUntracked = 6,
  // health: the server responds, but is not serving.
  kNotServing = 7,
};

// The exit code for the outcome of a call.
ExitCode ExitCodeFor(const absl::Status& status);

// The table of exit codes, as shown by --help.
absl::string_view ExitCodeHelp();

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_EXIT_CODE_H_
