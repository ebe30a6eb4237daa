#ifndef TTL_CLIENT_POSTGRES_PROGRAM_TTL_POSTGRES_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_TTL_POSTGRES_H_

#include <string>
#include <vector>

#include "client/postgres/program/command.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// Runs the command line of ttl-postgres; `arguments` exclude the program name. Results go to
// output.out; errors, problems and warnings go to output.err.
ExitCode RunTtlPostgres(const std::vector<std::string>& arguments, Output output,
                        const WallClock& clock);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_TTL_POSTGRES_H_
