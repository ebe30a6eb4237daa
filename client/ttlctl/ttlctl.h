#ifndef TTL_CLIENT_TTLCTL_TTLCTL_H_
#define TTL_CLIENT_TTLCTL_TTLCTL_H_

#include <string>
#include <vector>

#include "client/ttlctl/commands/exit_code.h"
#include "client/ttlctl/text/terminal.h"

namespace ttl {

// Runs ttlctl, the command-line client of ttl-sidecar, with `arguments`, which do not include the
// name of the program. Writes results to terminal.out, and each error as one line to terminal.err.
ExitCode RunTtlctl(const std::vector<std::string>& arguments, const Terminal& terminal);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TTLCTL_H_
