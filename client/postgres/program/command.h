#ifndef TTL_CLIENT_POSTGRES_PROGRAM_COMMAND_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_COMMAND_H_

#include <functional>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/postgres/config/config.h"
#include "client/postgres/program/exit_code.h"

namespace ttl::postgres {

// The output streams of a command. Not owned.
struct Output {
  std::ostream& out;
  std::ostream& err;
};

// The chosen subcommand, ready to run.
using Command = std::function<ExitCode(const Config&, Output)>;

inline void PrintError(Output output, absl::string_view message) {
  output.err << "ttl-postgres: " << message << "\n";
}

// Prints a database error and returns its exit code.
inline ExitCode Fail(Output output, const absl::Status& status) {
  PrintError(output, status.message());
  return ExitCodeFor(status);
}

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_COMMAND_H_
