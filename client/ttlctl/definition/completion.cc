#include "client/ttlctl/definition/completion.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "client/ttlctl/definition/command_tree.h"

namespace ttl {
namespace {

// A description up to its first semicolon: one line beside a word.
std::string Brief(const std::string& description) {
  return description.substr(0, description.find(';'));
}

// Where the parser would be after some words.
class CompletionWalk {
 public:
  explicit CompletionWalk(const CLI::App& root) : root_(root), command_(&root) {}

  void Take(const std::string& word) {
    if (pending_ != nullptr) {
      TakeOptionWord(*pending_, word);
      pending_ = nullptr;
    } else if (!only_positionals_ && word == "--") {
      only_positionals_ = true;
    } else if (!only_positionals_ && IsOptionWord(word)) {
      TakeOption(word);
    } else if (const CLI::App* next = FindSubcommand(*command_, word); next != nullptr) {
      command_ = next;
    } else {
      positionals_.push_back(word);
    }
  }

  CompletionChoices Choices(const std::string& typed) && {
    choices_.typed = typed;
    const size_t equals = typed.find('=');
    if (pending_ != nullptr) {
      OfferValues(pending_->get_type_name(), "", typed);
    } else if (IsOptionWord(typed) && equals != std::string::npos) {
      const CLI::Option* option = FindOption(*command_, typed);
      if (option != nullptr) {
        OfferValues(option->get_type_name(), typed.substr(0, equals + 1), typed);
      }
    } else if (absl::StartsWith(typed, "-") && !only_positionals_) {
      OfferOptions(typed);
    } else {
      OfferSubcommands(*command_, typed);
      OfferPositional(typed);
    }
    return std::move(choices_);
  }

 private:
  void TakeOption(const std::string& word) {
    const CLI::Option* option = FindOption(*command_, word);
    if (option == nullptr) return;
    TakeOptionWord(*option, word);
    const bool has_value = absl::StrContains(word, '=');
    if (NeedsValue(*option) && !has_value) pending_ = option;
  }

  void TakeOptionWord(const CLI::Option& option, const std::string& word) {
    const std::vector<const CLI::Option*> globals = DashedOptionsOf(root_);
    const bool is_global = std::find(globals.begin(), globals.end(), &option) != globals.end();
    const bool ends_the_run = option.check_name("--help") || option.check_name("--version");
    if (is_global && !ends_the_run) choices_.global_arguments.push_back(word);
  }

  void Offer(std::string text, const std::string& description, const std::string& typed) {
    if (absl::StartsWith(text, typed)) {
      choices_.words.push_back({std::move(text), Brief(description)});
    }
  }

  void OfferValues(const std::string& type, const std::string& before, const std::string& typed) {
    for (const std::string& choice : ChoicesOf(type)) Offer(before + choice, "", typed);
    choices_.files = type == kFileType;
    choices_.containers = type == kContainerType;
  }

  void OfferOptions(const std::string& typed) {
    for (const CLI::App* level = command_; level != nullptr; level = level->get_parent()) {
      for (const CLI::Option* option : DashedOptionsOf(*level)) {
        const std::string name = NamesOf(*option).back();
        const bool is_known =
            std::any_of(choices_.words.begin(), choices_.words.end(),
                        [&name](const CompletionWord& word) { return word.text == name; });
        if (!is_known) Offer(name, option->get_description(), typed);
      }
    }
  }

  void OfferSubcommands(const CLI::App& command, const std::string& typed) {
    if (!positionals_.empty()) return;
    for (const CLI::App* subcommand : SubcommandsOf(command)) {
      Offer(subcommand->get_name(), subcommand->get_description(), typed);
    }
  }

  // The names of commands, below that which the words before name.
  void OfferCommands(const std::string& typed) {
    const CLI::App* command = &root_;
    for (const std::string& name : positionals_) {
      command = command == nullptr ? nullptr : FindSubcommand(*command, name);
    }
    if (command == nullptr) return;
    positionals_.clear();
    OfferSubcommands(*command, typed);
  }

  void OfferPositional(const std::string& typed) {
    const std::vector<const CLI::Option*> options = PositionalsOf(*command_);
    if (options.empty()) return;
    const CLI::Option* option = options[std::min(positionals_.size(), options.size() - 1)];
    const bool is_full =
        positionals_.size() >= options.size() && option->get_items_expected_max() <= 1;
    if (is_full) return;
    if (option->get_type_name() == kCommandType) {
      OfferCommands(typed);
    } else {
      OfferValues(option->get_type_name(), "", typed);
    }
  }

  const CLI::App& root_;
  const CLI::App* command_;
  const CLI::Option* pending_ = nullptr;  // its value comes next
  bool only_positionals_ = false;         // after --
  std::vector<std::string> positionals_;  // of command_
  CompletionChoices choices_;
};

}  // namespace

CompletionChoices CompletionsFor(const CLI::App& root, const std::vector<std::string>& words) {
  if (words.empty()) return CompletionsFor(root, {""});
  CompletionWalk walk(root);
  for (size_t i = 0; i + 1 < words.size(); ++i) walk.Take(words[i]);
  return std::move(walk).Choices(words.back());
}

}  // namespace ttl
