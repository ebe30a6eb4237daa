#ifndef TTL_CLIENT_TTLCTL_COMMANDS_COMMAND_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_COMMAND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/ttlctl/commands/session.h"

namespace ttl {

// The command that the command line names, with its arguments.
using Command = std::function<ExitCode(Session&)>;

// The arguments of a subcommand that takes none.
struct NoArguments {};

// Adds the subcommand `name` to `parent`. If it is the one on the command line,
// `chosen` becomes a call of `run` with `arguments`, which the options of the
// subcommand fill. `chosen` must outlive the parsing.
template <typename Arguments>
CLI::App* AddCommand(CLI::App& parent, const std::string& name, const std::string& description,
                     std::shared_ptr<Arguments> arguments,
                     ExitCode (*run)(Session&, const Arguments&), Command& chosen) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->callback([arguments = std::move(arguments), run, &chosen] {
    chosen = [arguments, run](Session& session) { return run(session, *arguments); };
  });
  return command;
}

// CLI11 parses an argument like "[a,b]" as a list of values if an option allows
// several. ToCli11 marks such an argument so that CLI11 does not split it; FromCli11
// removes the mark. The functions below do that for their options.
std::string ToCli11(const std::string& argument);
std::string FromCli11(const std::string& value);

// Adds an option whose text is passed to `parse`, which throws
// CLI::ValidationError if the text is invalid.
CLI::Option* AddParsedOption(CLI::App& command, const std::string& name,
                             const std::string& description, const std::string& type,
                             std::function<void(const std::string&)> parse);

// Adds an option whose text is assigned to `target`, which must outlive the
// parsing.
CLI::Option* AddTextOption(CLI::App& command, const std::string& name,
                           const std::string& description, std::string& target);

// Adds an option for a whole number in decimal, which is passed to `set`.
CLI::Option* AddIntegerOption(CLI::App& command, const std::string& name,
                              const std::string& description, std::function<void(int64_t)> set);

// Adds an option for one of the words in `choices`, which have | between them. The word is passed
// to `set`.
CLI::Option* AddChoiceOption(CLI::App& command, const std::string& name,
                             const std::string& description, const std::string& choices,
                             std::function<void(const std::string&)> set);

// Throws a CLI::ValidationError: the value must be `right`. Proposes a choice of the option's type
// (see command_tree.h) that is like `text`.
[[noreturn]] void RefuseValue(const std::string& option, const std::string& text,
                              const std::string& right, const std::string& type);

// Adds an option for a duration in the forms of duration_text.h, which is passed to `set` in
// seconds.
CLI::Option* AddDurationOption(CLI::App& command, const std::string& name,
                               const std::string& description, std::function<void(int64_t)> set);

// The seconds of `text`, the value of `option`. Throws NumberTooLarge or CLI::ValidationError,
// which says that the value must be a duration or `also`, if that is not empty.
int64_t ParseDuration(const std::string& option, const std::string& text,
                      const std::string& also = "", const std::string& type = "");

// Adds an option for a key in the notation of key_text.h, which is passed to `set`.
CLI::Option* AddKeyOption(CLI::App& command, const std::string& name,
                          const std::string& description, std::function<void(std::string)> set);

// Adds the required positional argument `name` for one or more keys in the notation of key_text.h,
// which are added to `keys`. `keys` must outlive the parsing.
void AddKeyArguments(CLI::App& command, const std::string& name, const std::string& description,
                     std::vector<std::string>& keys);

// An integer that no field can hold. It has the same exit code as a number that the server
// refuses because it is too large for its field.
class NumberTooLarge : public CLI::ValidationError {
 public:
  NumberTooLarge(const std::string& option, const std::string& text);
};

// Throws NumberTooLarge if `text` is an integer, otherwise a CLI::ValidationError that says that
// the value must be `right`.
[[noreturn]] void RefuseNumber(const std::string& option, const std::string& text,
                               const std::string& right);

// Adds the required positional argument `name` for the id of a container, plain text that is passed
// to `set`.
void AddContainerId(CLI::App& command, const std::string& name,
                    std::function<void(std::string)> set);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_COMMAND_H_
