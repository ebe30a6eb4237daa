#ifndef TTL_SERVICE_PROCESS_CHILD_COMMAND_H_
#define TTL_SERVICE_PROCESS_CHILD_COMMAND_H_

#include <string>
#include <vector>

namespace ttl {

// Runs a program, found by PATH, with our input, output and errors, and waits for its end. Returns
// its exit code as a shell does: 127 if it cannot be run, 128 + the signal that ended it. Meanwhile
// a SIGINT, SIGQUIT or SIGHUP, as of a terminal, is left to it, and a SIGTERM is passed on to it,
// so that whoever calls this outlives it; also while HeldSignals live. For one thread of a process,
// and not with signal handlers of others. REQUIRES: !arguments.empty()
int RunChildCommand(const std::vector<std::string>& arguments);

}  // namespace ttl

#endif  // TTL_SERVICE_PROCESS_CHILD_COMMAND_H_
