#include "client/ttlctl/commands/help/help_commands.h"

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "client/ttlctl/commands/command.h"
#include "client/ttlctl/commands/session.h"
#include "client/ttlctl/definition/command_tree.h"
#include "client/ttlctl/definition/complaint.h"
#include "client/ttlctl/definition/completion_script.h"
#include "client/ttlctl/definition/man_page.h"

namespace ttl {
namespace {

ExitCode ShowHelp(const CLI::App& app, const std::vector<std::string>& names,
                  const Terminal& terminal) {
  const CLI::App* command = &app;
  for (const std::string& name : names) {
    const CLI::App* next = FindSubcommand(*command, name);
    if (next == nullptr) {
      PrintError(terminal.err, NoSubcommandText(*command, name));
      return ExitCode::kUsage;
    }
    command = next;
  }
  // App::help would describe the subcommand that was parsed, which is help itself.
  terminal.out << command->get_formatter()->make_help(command, FullNameOf(*command),
                                                      CLI::AppFormatMode::Normal);
  return ExitCode::kOk;
}

void AddHelp(CLI::App& app, OfflineCommand& chosen) {
  CLI::App* help = app.add_subcommand("help", "Show the help of a command");
  auto names = std::make_shared<std::vector<std::string>>();
  help->add_option_function<std::vector<std::string>>(
          "COMMAND",
          [names](const std::vector<std::string>& words) {
            for (const std::string& word : words) names->push_back(FromCli11(word));
          },
          "Name of the command, such as containers create; all if absent")
      ->type_name(kCommandType);
  help->callback([&app, &chosen, names] {
    chosen = [&app, names](const Terminal& terminal) { return ShowHelp(app, *names, terminal); };
  });
}

void AddCompletion(CLI::App& app, OfflineCommand& chosen) {
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  AddChoiceOption(*completion, "SHELL", "Name of the shell", kShells,
                  [shell](const std::string& name) { *shell = name; })
      ->required();
  completion->callback([&chosen, shell] {
    chosen = [shell](const Terminal& terminal) {
      terminal.out << CompletionScript(*shell);
      return ExitCode::kOk;
    };
  });
  completion->footer(
      "  bash:  source <(ttlctl completion bash)\n"
      "  zsh:   source <(ttlctl completion zsh), after compinit\n"
      "  fish:  ttlctl completion fish | source\n\n"
      "Put that line into ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish. The package ttlctl\n"
      "installs all three. Container ids are read from the sidecar, with a deadline of 1 s.\n");
}

void AddManPage(CLI::App& app, OfflineCommand& chosen) {
  CLI::App* man = app.add_subcommand("man", "Print the manual page in the format of man");
  man->group("");
  man->callback([&app, &chosen] {
    chosen = [&app](const Terminal& terminal) {
      terminal.out << ManPage(app, app.version());
      return ExitCode::kOk;
    };
  });
}

}  // namespace

void AddHelpCommands(CLI::App& app, OfflineCommand& chosen) {
  AddHelp(app, chosen);
  AddCompletion(app, chosen);
  AddManPage(app, chosen);
}

}  // namespace ttl
