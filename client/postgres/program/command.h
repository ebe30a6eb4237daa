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

// Where a command writes. Not owned.
struct Output {
  std::ostream& out;
  std::ostream& err;
};

// What the command line asked for, ready to run.
using Command = std::function<ExitCode(const Config&, Output)>;

// Prints "ttl-postgres: " and the message to the error output.
inline void PrintError(Output output, absl::string_view message) {
  output.err << "ttl-postgres: " << message << "\n";
}

// Prints an error of the database and returns the exit code for it.
inline ExitCode Fail(Output output, const absl::Status& status) {
  PrintError(output, status.message());
  return ExitCodeFor(status);
}

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_COMMAND_H_
