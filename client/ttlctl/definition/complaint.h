#ifndef TTL_CLIENT_TTLCTL_DEFINITION_COMPLAINT_H_
#define TTL_CLIENT_TTLCTL_DEFINITION_COMPLAINT_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace ttl {

// Why the command line cannot be run, and where it is described: `"statu" is not a subcommand or
// option; did you mean "status"? (see ttlctl --help)`. `root` has been parsed, which threw `error`;
// `left` are the words that the parser had no use for.
std::string ComplaintText(const CLI::App& root, const CLI::ParseError& error,
                          const std::vector<std::string>& left);

// The same for a word that names no subcommand of `command`.
std::string NoSubcommandText(const CLI::App& command, const std::string& word);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_DEFINITION_COMPLAINT_H_
