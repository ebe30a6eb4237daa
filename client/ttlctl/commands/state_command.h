#ifndef TTL_CLIENT_TTLCTL_COMMANDS_STATE_COMMAND_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_STATE_COMMAND_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "client/ttlctl/commands/command.h"
#include "client/ttlctl/commands/watch.h"

namespace ttl {

// AddCommand for a command that shows state and changes nothing: it has --watch too.
template <typename Arguments>
CLI::App* AddStateCommand(CLI::App& parent, const std::string& name, const std::string& description,
                          std::shared_ptr<Arguments> arguments,
                          ExitCode (*run)(Session&, const Arguments&), Command& chosen) {
  auto interval = std::make_shared<std::optional<absl::Duration>>();
  CLI::App* command = parent.add_subcommand(name, description);
  command->callback([arguments = std::move(arguments), interval, run, &chosen] {
    const Command show = [arguments, run](Session& session) { return run(session, *arguments); };
    chosen = [show, interval](Session& session) {
      return interval->has_value() ? Watch(session, **interval, show) : show(session);
    };
  });
  AddWatchOption(*command, *interval);
  return command;
}

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_STATE_COMMAND_H_
