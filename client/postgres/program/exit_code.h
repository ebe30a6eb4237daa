#ifndef TTL_CLIENT_POSTGRES_PROGRAM_EXIT_CODE_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_EXIT_CODE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ttl::postgres {

// Exit codes of ttl-postgres, numbered as in ttlctl. Scripts rely on the numbers, so never change
// one.
enum class ExitCode : int {
  kOk = 0,
  // The configuration or the database has problems, or the database refused a statement.
  kRefused = 1,
  // The command line is wrong or the configuration cannot be read; nothing was done.
  kUsage = 2,
  // The database could not be reached.
  kUnreachable = 4,
};

// The exit code for a database error.
ExitCode ExitCodeFor(const absl::Status& status);

// The exit codes as shown by --help.
absl::string_view ExitCodeHelp();

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_EXIT_CODE_H_
