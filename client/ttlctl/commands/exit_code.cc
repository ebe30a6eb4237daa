#include "client/ttlctl/commands/exit_code.h"

namespace ttl {

ExitCode ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kUnreachable;
    default:
      return ExitCode::kRefused;
  }
}

absl::string_view ExitCodeHelp() {
  return "Exit codes:\n"
         "  0  done; for \"items check\" and \"items touch\": every item is visible\n"
         "  1  refused by the server; invalid line in a file; number too large for its field;\n"
         "     output could not be written\n"
         "  2  the command line is wrong; nothing was sent\n"
         "  3  no such container, item, hold or subscription\n"
         "  4  the server cannot be reached, or did not respond in time\n"
         "  5  \"items check\" and \"items touch\": at least one item is expired\n"
         "  6  \"items check\" and \"items touch\": none is expired, at least one is not "
         "tracked\n"
         "  7  \"health\": not serving\n";
}

}  // namespace ttl
