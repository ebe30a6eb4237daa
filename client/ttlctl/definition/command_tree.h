#ifndef TTL_CLIENT_TTLCTL_DEFINITION_COMMAND_TREE_H_
#define TTL_CLIENT_TTLCTL_DEFINITION_COMMAND_TREE_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/string_view.h"

// Reads the command line's definition, which is the tree of CLI11 commands that the parser uses
// too. The type of an option says what its value may be, in alternatives with | between them: a
// word in lower case stands for itself ("table|json|yaml"), one in capitals for a kind of value
// ("DURATION|off"). Pure functions.
namespace ttl {

// A type for the id of a container, which completion asks the sidecar for.
inline constexpr char kContainerType[] = "NAME";
// A type for the names of a command, one argument each.
inline constexpr char kCommandType[] = "COMMAND";
// A type for the path of a file.
inline constexpr char kFileType[] = "FILE";

// The subcommands in the order of their definition.
std::vector<const CLI::App*> SubcommandsOf(const CLI::App& command);

// The options that are written with a dash, and the positional arguments.
std::vector<const CLI::Option*> DashedOptionsOf(const CLI::App& command);
std::vector<const CLI::Option*> PositionalsOf(const CLI::App& command);

// The subcommand of this name, or null.
const CLI::App* FindSubcommand(const CLI::App& command, absl::string_view name);

// The option that `word`, "-f", "--file" or "--file=x", names in `command` or the commands above
// it, or null.
const CLI::Option* FindOption(const CLI::App& command, absl::string_view word);

// Whether the parser takes `word` for an option: "-f" or "--file", but not "-".
bool IsOptionWord(absl::string_view word);

// Whether a value must follow the option, unless it is given after "=".
bool NeedsValue(const CLI::Option& option);

// "-f" and "--file".
std::vector<std::string> NamesOf(const CLI::Option& option);

// The words that a value of this type may be: those in lower case.
std::vector<std::string> ChoicesOf(absl::string_view type);

// The full name of a command, such as "ttlctl items check".
std::string FullNameOf(const CLI::App& command);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_DEFINITION_COMMAND_TREE_H_
