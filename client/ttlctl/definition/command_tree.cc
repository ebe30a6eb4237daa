#include "client/ttlctl/definition/command_tree.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ttl {
namespace {

bool IsHidden(const CLI::App& command) { return command.get_group().empty(); }

std::vector<const CLI::Option*> OptionsOf(const CLI::App& command, bool positional) {
  return command.get_options([positional](const CLI::Option* option) {
    return option->nonpositional() != positional && !option->get_group().empty();
  });
}

bool HasName(const CLI::Option& option, absl::string_view name) {
  const std::vector<std::string> names = NamesOf(option);
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsChoice(absl::string_view word) {
  return !word.empty() && absl::ascii_islower(word.front()) &&
         std::none_of(word.begin(), word.end(), absl::ascii_isupper);
}

}  // namespace

std::vector<const CLI::App*> SubcommandsOf(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* subcommand) { return !IsHidden(*subcommand); });
}

std::vector<const CLI::Option*> DashedOptionsOf(const CLI::App& command) {
  return OptionsOf(command, /*positional=*/false);
}

std::vector<const CLI::Option*> PositionalsOf(const CLI::App& command) {
  return OptionsOf(command, /*positional=*/true);
}

const CLI::App* FindSubcommand(const CLI::App& command, absl::string_view name) {
  for (const CLI::App* subcommand : SubcommandsOf(command)) {
    if (subcommand->get_name() == name) return subcommand;
  }
  return nullptr;
}

const CLI::Option* FindOption(const CLI::App& command, absl::string_view word) {
  const absl::string_view name = word.substr(0, word.find('='));
  for (const CLI::App* level = &command; level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* option : DashedOptionsOf(*level)) {
      if (HasName(*option, name)) return option;
    }
  }
  return nullptr;
}

bool IsOptionWord(absl::string_view word) { return word.size() > 1 && word.front() == '-'; }

bool NeedsValue(const CLI::Option& option) { return option.get_items_expected_min() > 0; }

std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back(absl::StrCat("-", name));
  for (const std::string& name : option.get_lnames()) names.push_back(absl::StrCat("--", name));
  return names;
}

std::vector<std::string> ChoicesOf(absl::string_view type) {
  return absl::StrSplit(type, '|', IsChoice);
}

std::string FullNameOf(const CLI::App& command) {
  if (command.get_parent() == nullptr) return command.get_name();
  return absl::StrCat(FullNameOf(*command.get_parent()), " ", command.get_name());
}

}  // namespace ttl
