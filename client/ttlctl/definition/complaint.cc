#include "client/ttlctl/definition/complaint.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/definition/suggestion.h"

namespace ttl {
namespace {

// The subcommand that was parsed, such as that of "ttlctl items check".
const CLI::App& ParsedCommand(const CLI::App& root) {
  const CLI::App* command = &root;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::vector<std::string> SubcommandNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : SubcommandsOf(command)) names.push_back(subcommand->get_name());
  return names;
}

// The long options of a command and of those above it.
std::vector<std::string> OptionNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* level = &command; level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* option : DashedOptionsOf(*level)) {
      const std::string name = NamesOf(*option).back();
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::string SeeText(const CLI::App& command) {
  return absl::StrCat(" (see ", FullNameOf(command), " --help)");
}

std::string NoOptionText(const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  return absl::StrCat("\"", name, "\" is not ",
                      SubcommandsOf(command).empty() ? "an option" : "a subcommand or option",
                      DidYouMean(name, OptionNames(command)), SeeText(command));
}

}  // namespace

std::string NoSubcommandText(const CLI::App& command, const std::string& word) {
  return absl::StrCat("\"", word, "\" is not a subcommand or option",
                      DidYouMean(word, SubcommandNames(command)), SeeText(command));
}

std::string ComplaintText(const CLI::App& root, const CLI::ParseError& error,
                          const std::vector<std::string>& left) {
  const CLI::App& command = ParsedCommand(root);
  // A value that a known option or argument refuses is wrong whatever else is.
  const bool is_about_a_value = dynamic_cast<const CLI::ValidationError*>(&error) != nullptr ||
                                dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  if (is_about_a_value || left.empty()) return absl::StrCat(error.what(), SeeText(command));
  // Of an unknown subcommand CLI11 says that one is missing, and of an unknown option that an
  // argument is, if its value was taken for another.
  if (!SubcommandsOf(command).empty() && !IsOptionWord(left.front())) {
    return NoSubcommandText(command, left.front());
  }
  const auto option = std::find_if(left.begin(), left.end(), IsOptionWord);
  if (option != left.end()) return NoOptionText(command, *option);
  return absl::StrCat("unexpected argument \"", left.front(), "\"", SeeText(command));
}

}  // namespace ttl
