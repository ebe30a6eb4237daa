#include "client/postgres/program/exit_code.h"

namespace ttl::postgres {

ExitCode ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kUnavailable:
      return ExitCode::kUnreachable;
    default:
      return ExitCode::kRefused;
  }
}

absl::string_view ExitCodeHelp() {
  return "Exit codes:\n"
         "  0  done\n"
         "  1  the configuration or the database has problems, or the database refused a\n"
         "     statement\n"
         "  2  the command line is wrong or the configuration cannot be read; nothing was done\n"
         "  4  the database cannot be reached\n";
}

}  // namespace ttl::postgres
