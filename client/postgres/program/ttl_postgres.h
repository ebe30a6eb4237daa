#ifndef TTL_CLIENT_POSTGRES_PROGRAM_TTL_POSTGRES_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_TTL_POSTGRES_H_

#include <string>
#include <vector>

#include "client/postgres/program/command.h"

namespace ttl::postgres {

// Runs the command line of ttl-postgres; `arguments` come after the name of the program.
// Results go to output.out, errors, problems and warnings to output.err.
ExitCode RunTtlPostgres(const std::vector<std::string>& arguments, Output output);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_TTL_POSTGRES_H_
