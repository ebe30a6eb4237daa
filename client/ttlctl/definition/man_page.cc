#include "client/ttlctl/definition/man_page.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/ttlctl/definition/command_tree.h"

namespace ttl {
namespace {

// Text as groff prints it unchanged. A line that begins with a dot or a quote would be a request.
std::string Roff(absl::string_view text) {
  std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}, {"\"", "\\(dq"}});
  if (!escaped.empty() && (escaped.front() == '.' || escaped.front() == '\'')) {
    escaped.insert(0, "\\&");
  }
  return escaped;
}

// Lines that stay as they are.
std::string Verbatim(absl::string_view text) {
  const std::vector<absl::string_view> lines =
      absl::StrSplit(absl::StripAsciiWhitespace(text), '\n');
  return absl::StrCat(
      ".nf\n",
      absl::StrJoin(lines, "\n",
                    [](std::string* page, absl::string_view line) { *page += Roff(line); }),
      "\n.fi\n");
}

std::string Bold(absl::string_view text) { return absl::StrCat("\\fB", Roff(text), "\\fR"); }

std::string Italic(absl::string_view text) { return absl::StrCat("\\fI", Roff(text), "\\fR"); }

std::string OptionText(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : NamesOf(option)) names.push_back(Bold(name));
  std::string text = names.empty() ? Italic(option.get_name(true)) : absl::StrJoin(names, ", ");
  const bool has_value = option.get_items_expected_max() > 0;
  if (!names.empty() && has_value) {
    const std::string value = Italic(option.get_type_name());
    absl::StrAppend(&text,
                    NeedsValue(option) ? absl::StrCat(" ", value) : absl::StrCat("[=", value, "]"));
  }
  return absl::StrCat(".TP\n", text, "\n", Roff(option.get_description()),
                      option.get_required() && !names.empty() ? "; required" : "", "\n");
}

std::string OptionTexts(const std::vector<const CLI::Option*>& options) {
  std::string text;
  for (const CLI::Option* option : options) {
    if (!option->check_name("--help")) text += OptionText(*option);
  }
  return text;
}

std::string ArgumentsText(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : PositionalsOf(command)) {
    const std::string name = Italic(option->get_name(true));
    absl::StrAppend(&text, " ", option->get_required() ? name : absl::StrCat("[", name, "]"),
                    option->get_items_expected_max() > 1 ? "..." : "");
  }
  return text;
}

// Every command that can be run, with its options; not the groups of commands.
std::string CommandTexts(const CLI::App& command) {
  const std::vector<const CLI::App*> subcommands = SubcommandsOf(command);
  std::string text;
  if (subcommands.empty()) {
    absl::StrAppend(&text, ".SS \"", Roff(FullNameOf(command)), ArgumentsText(command), "\"\n",
                    Roff(command.get_description()), ".\n", OptionTexts(PositionalsOf(command)),
                    OptionTexts(DashedOptionsOf(command)));
  }
  for (const CLI::App* subcommand : subcommands) text += CommandTexts(*subcommand);
  return text;
}

std::string EnvironmentText(const CLI::App& root) {
  std::string text;
  for (const CLI::Option* option : DashedOptionsOf(root)) {
    if (option->get_envname().empty()) continue;
    absl::StrAppend(&text, ".TP\n", Bold(option->get_envname()), "\nAs ",
                    Bold(NamesOf(*option).back()), ".\n");
  }
  return text;
}

}  // namespace

std::string ManPage(const CLI::App& root, absl::string_view version) {
  const std::string name = root.get_name();
  return absl::StrCat(
      ".TH ", absl::AsciiStrToUpper(name), " 1 \"\" \"", Roff(version), "\" \"User Commands\"\n",
      ".SH NAME\n", Roff(name), " \\- command line of ttl\\-sidecar\n", ".SH SYNOPSIS\n",
      Bold(name), " [", Italic("OPTIONS"), "] ", Italic("COMMAND"), "\n", ".SH DESCRIPTION\n",
      Bold(name),
      " controls ttl\\-sidecar, which gives a store without TTL the TTL of Azure Cosmos DB.\n",
      ".SH OPTIONS\nAll commands take these.\n", OptionTexts(DashedOptionsOf(root)),
      ".SH COMMANDS\n", CommandTexts(root), ".SH ENVIRONMENT\n", EnvironmentText(root),
      ".SH NOTES\n", Verbatim(root.get_footer()), ".SH SEE ALSO\n", Bold("ttl-sidecar"), "(1)\n");
}

}  // namespace ttl
