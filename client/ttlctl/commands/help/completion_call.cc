#include "client/ttlctl/commands/help/completion_call.h"

#include <algorithm>
#include <ostream>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/ttlctl/definition/completion.h"
#include "nlohmann/json.hpp"

namespace ttl {
namespace {

// A line cannot hold an id with control characters.
bool FitsALine(const std::string& id) {
  return std::none_of(id.begin(), id.end(), absl::ascii_iscntrl);
}

std::vector<std::string> ContainerIds(const CompletionChoices& choices, const Terminal& terminal,
                                      const TtlctlRun& run) {
  std::vector<std::string> arguments = choices.global_arguments;
  arguments.insert(arguments.end(),
                   {"--timeout-seconds", "1", "containers", "list", "--output", "json"});
  if (!choices.typed.empty()) {
    arguments.push_back(absl::StrCat("--id-prefix=", choices.typed));
  }
  std::stringstream lines;
  std::ostringstream errors;
  run(arguments, {terminal.in, lines, errors});
  std::vector<std::string> ids;
  for (std::string line; std::getline(lines, line);) {
    const auto container = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    const std::string id = container.is_object() ? container.value("id", "") : "";
    // An older sidecar does not know the filter.
    if (absl::StartsWith(id, choices.typed) && FitsALine(id)) ids.push_back(id);
  }
  return ids;
}

}  // namespace

void PrintCompletions(const CLI::App& app, const std::vector<std::string>& words,
                      const Terminal& terminal, const TtlctlRun& run) {
  const CompletionChoices choices = CompletionsFor(app, words);
  if (choices.files) {
    terminal.out << ":files\n";
    return;
  }
  for (const CompletionWord& word : choices.words) {
    terminal.out << word.text << "\t" << word.description << "\n";
  }
  if (!choices.containers) return;
  for (const std::string& id : ContainerIds(choices, terminal, run)) {
    terminal.out << id << "\tcontainer\n";
  }
}

}  // namespace ttl
