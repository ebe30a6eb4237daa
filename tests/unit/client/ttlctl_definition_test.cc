// What ttlctl makes of the definition of its command line: help, complaints, completion and the
// manual page.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/ttlctl/definition/suggestion.h"
#include "client/ttlctl/ttlctl.h"
#include "tests/testing/fake_sidecar.h"
#include "ttl/v1/container_service.pb.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

using Words = std::vector<std::string>;

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

Outcome Ttlctl(const Words& arguments) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code = RunTtlctl(arguments, {in, out, err});
  return {code, out.str(), err.str()};
}

// Help

TEST(HelpTest, NotesAreWithTheCommandsThatTheyAreAbout) {
  const auto has_keys = HasSubstr("\\xHH");
  const auto has_codes = HasSubstr("Exit codes");
  EXPECT_THAT(Ttlctl({"--help"}).out, AllOf(has_keys, has_codes));
  for (const char* command : {"check", "touch"}) {
    EXPECT_THAT(Ttlctl({"items", command, "--help"}).out, AllOf(has_keys, has_codes)) << command;
  }
  for (const Words& command : {Words{"items", "list", "--help"}, {"stuck", "--help"}}) {
    EXPECT_THAT(Ttlctl(command).out, AllOf(has_keys, Not(has_codes))) << command.front();
  }
  for (const char* command : {"help", "completion", "clock", "limits", "store", "status"}) {
    EXPECT_THAT(Ttlctl({command, "--help"}).out, AllOf(Not(has_keys), Not(has_codes))) << command;
  }
}

// Suggestions

TEST(SuggestionTest, NearWordsAreProposedTheNearestAlone) {
  const Words words = {"status", "stuck", "store", "containers", "create", "confirm"};
  EXPECT_THAT(NearestWords("statu", words), ElementsAre("status"));
  EXPECT_THAT(NearestWords("sttaus", words), ElementsAre("status")) << "an exchange is one";
  EXPECT_THAT(NearestWords("container", words), ElementsAre("containers"));
  EXPECT_THAT(NearestWords("creaet", words), ElementsAre("create"));
}

TEST(SuggestionTest, ABeginningIsProposedAtMostTwice) {
  EXPECT_THAT(NearestWords("con", {"containers", "confirm", "context"}),
              ElementsAre("containers", "confirm"));
  EXPECT_THAT(NearestWords("--brake", {"--brake-items", "--etag"}), ElementsAre("--brake-items"));
}

TEST(SuggestionTest, WhatIsFarIsNotProposed) {
  const Words words = {"status", "off", "get"};
  for (const std::string& word : {std::string(), std::string("nonsense"), std::string("x"),
                                  std::string("list"), std::string("--"), std::string(1000, 's')}) {
    EXPECT_THAT(NearestWords(word, words), IsEmpty()) << word;
    EXPECT_EQ(DidYouMean(word, words), "") << word;
  }
}

// Complaints

TEST(ComplaintTest, AWrongWordIsNamedWithWhatWasProbablyMeant) {
  const struct {
    Words arguments;
    const char* expected;
  } kCases[] = {
      {{"statu"},
       "\"statu\" is not a subcommand or option; did you mean \"status\"? (see ttlctl --help)"},
      {{"containers", "crate", "c", "--default-ttl", "5"},
       "\"crate\" is not a subcommand or option; did you mean \"create\"? (see ttlctl containers "
       "--help)"},
      {{"containers", "create", "c", "--defualt-ttl=5"},
       "\"--defualt-ttl\" is not an option; did you mean \"--default-ttl\"? (see ttlctl containers "
       "create --help)"},
      {{"items", "track", "c", "--partition-kye", "p", "a", "--ts", "1"},
       "\"--partition-kye\" is not an option; did you mean \"--partition-key\"? (see ttlctl items "
       "track --help)"},
      {{"items", "check", "c", "a", "--sevrer", "x:1"},
       "\"--sevrer\" is not an option; did you mean \"--server\"? (see ttlctl items check --help)"},
      {{"containers", "set", "c", "--indexing-mode", "layz"},
       "--indexing-mode: \"layz\" must be consistent, lazy or none; did you mean \"lazy\"? (see "
       "ttlctl containers set --help)"},
      {{"containers", "set", "c", "--max-deletes-per-second", "defalt"},
       "--max-deletes-per-second: \"defalt\" must be default or a number; did you mean "
       "\"default\"? (see ttlctl containers set --help)"},
      {{"containers", "set", "c", "--default-ttl", "of"},
       "--default-ttl: \"of\" must be off, -1, seconds, or a duration such as 90m, 1h30m or 30d; "
       "did you mean \"off\"? (see ttlctl containers set --help)"},
      {{"limits", "set", "--max-deletes-per-second", "nnoe"},
       "--max-deletes-per-second: \"nnoe\" must be none, default or a number; did you mean "
       "\"none\"? (see ttlctl limits set --help)"},
      {{"status", "-o", "yml"},
       "--output: \"yml\" must be table, json or yaml; did you mean \"yaml\"? (see ttlctl status "
       "--help)"},
      {{"containers", "list", "extra"},
       "unexpected argument \"extra\" (see ttlctl containers list --help)"},
      {{"help", "containers", "lst"},
       "\"lst\" is not a subcommand or option; did you mean \"list\"? (see ttlctl containers "
       "--help)"},
  };
  for (const auto& c : kCases) {
    const Outcome outcome = Ttlctl(c.arguments);
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << c.expected;
    EXPECT_EQ(outcome.err, absl::StrCat("ttlctl: ", c.expected, "\n"));
    EXPECT_EQ(outcome.out, "");
  }
}

// Help

TEST(HelpTest, HelpIsThatOfTheCommand) {
  EXPECT_EQ(Ttlctl({"help"}).out, Ttlctl({"--help"}).out);
  EXPECT_EQ(Ttlctl({"help", "containers"}).out, Ttlctl({"containers", "--help"}).out);
  EXPECT_EQ(Ttlctl({"help", "containers", "create"}).out,
            Ttlctl({"containers", "create", "--help"}).out);
  EXPECT_EQ(Ttlctl({"help", "help"}).code, ExitCode::kOk);
  EXPECT_EQ(Ttlctl({"help", "status", "more"}).code, ExitCode::kUsage);
}

// All commands that can be run, by their helps.
std::vector<Words> Leaves(const Words& group) {
  Words call = {"help"};
  call.insert(call.end(), group.begin(), group.end());
  const std::string help = Ttlctl(call).out;
  const size_t start = help.find("\nSubcommands:\n");
  if (start == std::string::npos) return {group};
  std::vector<Words> leaves;
  for (const absl::string_view line : absl::StrSplit(help.substr(start + 14), '\n')) {
    if (!absl::StartsWith(line, "  ")) break;
    Words command = group;
    command.emplace_back(line.substr(2, line.find(' ', 2) - 2));
    for (Words& leaf : Leaves(command)) leaves.push_back(std::move(leaf));
  }
  return leaves;
}

TEST(HelpTest, EveryCommandNamesItsFormats) {
  const std::vector<Words> leaves = Leaves({});
  EXPECT_GT(leaves.size(), 25u);
  const std::set<std::string> without = {"help", "completion"};
  for (const Words& leaf : leaves) {
    if (without.contains(leaf.front())) continue;
    Words call = leaf;
    call.emplace_back("--help");
    EXPECT_THAT(Ttlctl(call).out, HasSubstr("-o,--output ")) << absl::StrJoin(leaf, " ");
  }
}

// Completion

Words Offered(const Words& words) {
  Words call = {"__complete"};
  call.insert(call.end(), words.begin(), words.end());
  const Outcome outcome = Ttlctl(call);
  EXPECT_EQ(outcome.code, ExitCode::kOk);
  EXPECT_EQ(outcome.err, "");
  Words offered;
  for (const absl::string_view line : absl::StrSplit(outcome.out, '\n', absl::SkipEmpty())) {
    offered.emplace_back(line.substr(0, line.find('\t')));
  }
  return offered;
}

TEST(CompletionTest, CommandsAreOffered) {
  EXPECT_THAT(Offered({""}), IsSupersetOf({"containers", "status", "help", "completion"}));
  EXPECT_THAT(Offered({""}), Not(Contains("man"))) << "it is for packages";
  EXPECT_THAT(Offered({"cont"}), ElementsAre("containers"));
  EXPECT_THAT(Offered({"containers", "c"}), ElementsAre("create", "confirm"));
  EXPECT_THAT(Offered({"--server", "a:1", "-o", "json", "containers", "cr"}),
              ElementsAre("create"));
  EXPECT_THAT(Offered({"--json", "--server=a:1", "containers", "cr"}), ElementsAre("create"));
  EXPECT_THAT(Offered({"help", "containers", "cr"}), ElementsAre("create"));
  EXPECT_THAT(Offered({"help", "cont"}), ElementsAre("containers"));
  EXPECT_THAT(Offered({"help", "nonsense", ""}), IsEmpty());
  EXPECT_THAT(Offered({}), Contains("containers"));
}

TEST(CompletionTest, OptionsOfTheCommandAndOfAllCommandsAreOffered) {
  EXPECT_THAT(Offered({"containers", "create", "c", "--de"}),
              ElementsAre("--default-ttl", "--delay-seconds"));
  EXPECT_THAT(Offered({"containers", "create", "--serv"}),
              ElementsAre("--server", "--server-name"));
  EXPECT_THAT(Offered({"subscriptions", "create", "c", "s", "--g"}),
              ElementsAre("--gate", "--give-up-after"));
  EXPECT_THAT(Offered({"items", "touch", "c", "a", "--u"}), ElementsAre("--unless-within"));
  EXPECT_THAT(Offered({"status", "--out"}), ElementsAre("--output")) << "once";
  EXPECT_THAT(Offered({"containers", "create", "--", "--de"}), IsEmpty());
}

TEST(CompletionTest, ChoicesAreOffered) {
  EXPECT_THAT(Offered({"status", "-o", ""}), ElementsAre("table", "json", "yaml"));
  EXPECT_THAT(Offered({"status", "--output=j"}), ElementsAre("--output=json"));
  EXPECT_THAT(Offered({"containers", "set", "c", "--indexing-mode", "l"}), ElementsAre("lazy"));
  EXPECT_THAT(Offered({"containers", "set", "c", "--default-ttl", ""}), ElementsAre("off"));
  EXPECT_THAT(Offered({"containers", "set", "c", "--allow-touch", ""}),
              ElementsAre("true", "false"));
  EXPECT_THAT(Offered({"health", "--service", "r"}), ElementsAre("readiness"));
  EXPECT_THAT(Offered({"watch", "c", "--kinds", "re"}),
              ElementsAre("revived", "replaced", "resync"));
  EXPECT_THAT(Offered({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(Offered({"completion", "bash", ""}), IsEmpty());
  EXPECT_THAT(Offered({"containers", "create", "c", "--nonsense=", ""}), IsEmpty());
}

TEST(CompletionTest, PathsAreLeftToTheShell) {
  EXPECT_THAT(Offered({"apply", "-f", ""}), ElementsAre(":files"));
  EXPECT_THAT(Offered({"apply", "--file=./"}), ElementsAre(":files"));
  EXPECT_THAT(Offered({"import", "c", ""}), ElementsAre(":files"));
  EXPECT_THAT(Offered({"--ca-file", ""}), ElementsAre(":files"));
}

TEST(CompletionTest, ContainersAreAskedFromTheSidecarOfTheCommandLine) {
  FakeSidecar sidecar;
  v1::ListContainersResponse list;
  for (const char* id : {"salesdb/orders", "salesdb/carts", "logs", "two\nlines"}) {
    list.add_containers()->set_id(id);
  }
  const std::vector<Words> lines = {
      {"--server", sidecar.address(), "status", "salesdb/"},
      {"containers", "set", absl::StrCat("--server=", sidecar.address()), "salesdb/"},
      {"items", "list", "--server", sidecar.address(), "--show-expired", "salesdb/"},
      {"pause", "--reason", "x", "--server", sidecar.address(), "salesdb/"},
      {"watch", "logs", "--server", sidecar.address(), "salesdb/"}};
  for (const Words& line : lines) {
    sidecar.Answer("ListContainers", list);
    EXPECT_THAT(Offered(line), ElementsAre("salesdb/orders", "salesdb/carts"))
        << absl::StrJoin(line, " ");
    const auto asked = sidecar.Requests<v1::ListContainersRequest>("ListContainers");
    EXPECT_EQ(asked.back().id_prefix(), "salesdb/");
  }
  sidecar.Answer("ListContainers", list);
  EXPECT_THAT(Offered({"--server", sidecar.address(), "status", ""}),
              ElementsAre("salesdb/orders", "salesdb/carts", "logs"));
}

TEST(CompletionTest, WithoutASidecarThereAreNoContainers) {
  EXPECT_THAT(Offered({"--server", "unix:/no/such.sock", "status", ""}), IsEmpty());
  EXPECT_THAT(Offered({"--server", "nonsense", "status", ""}), IsEmpty());
}

// The manual page

TEST(ManPageTest, NamesEveryCommandAndItsOptions) {
  const std::string page = Ttlctl({"man"}).out;
  EXPECT_THAT(page, StartsWith(".TH TTLCTL 1 \"\" \"ttlctl "));
  for (const Words& leaf : Leaves({})) {
    EXPECT_THAT(page, HasSubstr(absl::StrCat(".SS \"ttlctl ", absl::StrJoin(leaf, " "))));
  }
  EXPECT_THAT(page, AllOf(HasSubstr("\\fB\\-\\-default\\-ttl\\fR \\fIDURATION|\\-1|off\\fR"),
                          HasSubstr("\\fB\\-\\-watch\\fR[=\\fIINTERVAL\\fR]"),
                          HasSubstr("\\fBTTL_SIDECAR_ADDRESS\\fR\nAs \\fB\\-\\-server\\fR."),
                          HasSubstr("5  \\(dqitems check\\(dq and \\(dqitems touch\\(dq: at "
                                    "least one item is expired"),
                          HasSubstr("write \\e\\e for a backslash and \\exHH")));
  EXPECT_THAT(page, Not(HasSubstr("ttlctl man")));
}

}  // namespace
}  // namespace ttl
