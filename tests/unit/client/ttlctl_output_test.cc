// The formats of ttlctl's output.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/text/yaml/yaml_text.h"
#include "client/ttlctl/ttlctl.h"
#include "nlohmann/json.hpp"
#include "tests/testing/fake_sidecar.h"
#include "tests/testing/process.h"
#include "tests/testing/temp_dir.h"
#include "ttl/v1/container_service.pb.h"
#include "ttl/v1/expiry_service.pb.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::StartsWith;

// YAML

// Text that a careless emitter would print as something else.
const char* const kTraps[] = {"",
                              "~",
                              "null",
                              "Null",
                              "true",
                              "NO",
                              "y",
                              "on",
                              "1",
                              "-1",
                              "0x1f",
                              "1e3",
                              "1_000",
                              "0o7",
                              ".inf",
                              ".nan",
                              "12:30",
                              "2026-01-01",
                              "=",
                              "<<",
                              "- a",
                              "a: b",
                              "a #b",
                              "#a",
                              "&a",
                              "*a",
                              "!a",
                              "%a",
                              "@a",
                              "`a",
                              "[a]",
                              "{a}",
                              "'a'",
                              "\"",
                              "\\",
                              " a",
                              "a ",
                              "a\nb",
                              "\t",
                              "\r",
                              "---",
                              "...",
                              "? a",
                              "|",
                              ">",
                              ",",
                              "\x7f",
                              "\xC2\x85",
                              "\xC2\x9B",
                              "\xE2\x80\xA8",
                              "\xEF\xBB\xBF",
                              "\xEF\xBF\xBF",
                              "\xF0\x9F\x98\x80",
                              "\xE6\x97\xA5",
                              "a:",
                              ":a",
                              "-",
                              "?",
                              "salesdb/orders"};

std::string RandomText(std::mt19937& random) {
  if (random() % 2 == 0) return kTraps[random() % std::size(kTraps)];
  std::string text;
  for (size_t parts = random() % 4; parts > 0; --parts) {
    text += random() % 2 == 0 ? std::string(1, static_cast<char>(1 + random() % 127))
                              : kTraps[random() % std::size(kTraps)];
  }
  return text;
}

ordered_json RandomValue(std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<int64_t>(random()) - 2147483648;
    case 3:
      return static_cast<double>(random() % 100000) / 64;
    case 6: {
      ordered_json list = ordered_json::array();
      for (size_t count = random() % 4; count > 0; --count) {
        list.push_back(RandomValue(random, depth - 1));
      }
      return list;
    }
    case 7: {
      ordered_json map = ordered_json::object();
      for (size_t count = random() % 4; count > 0; --count) {
        map[RandomText(random)] = RandomValue(random, depth - 1);
      }
      return map;
    }
    default:
      return RandomText(random);
  }
}

// The text of a YAML node as a value; plain text is resolved by JSON's rules.
ordered_json FromYaml(const YAML::Node& node) {
  if (node.IsNull()) return nullptr;
  if (node.IsSequence()) {
    ordered_json list = ordered_json::array();
    for (const YAML::Node& element : node) list.push_back(FromYaml(element));
    return list;
  }
  if (node.IsMap()) {
    ordered_json map = ordered_json::object();
    for (const auto& pair : node) map[pair.first.Scalar()] = FromYaml(pair.second);
    return map;
  }
  const ordered_json value = ordered_json::parse(node.Scalar(), nullptr, false);
  return node.Tag() == "!" || value.is_discarded() ? ordered_json(node.Scalar()) : value;
}

RC_GTEST_PROP(YamlTextTest, WhatIsPrintedReadsBackAsTheSame, (unsigned seed)) {
  std::mt19937 random(seed);
  const ordered_json value = RandomValue(random, 3);
  const bool is_same = FromYaml(YAML::Load(ToYaml(value))) == value;
  RC_ASSERT(is_same);
}

TEST(YamlTextTest, WhatATerminalWouldReorderOrHideIsEscaped) {
  EXPECT_EQ(ToYaml("a\u202Eb"), "\"a\\u202Eb\"\n");
  for (const char* text : {"\u200B", "\u200F", "\u202A", "\u2060", "\u2066", "\u206F"}) {
    EXPECT_THAT(ToYaml(text), StartsWith("\"\\u20")) << text;
  }
  EXPECT_EQ(ToYaml("\u200A\u2010"), "\"\u200A\u2010\"\n");
}

// PyYAML follows YAML 1.1, yaml-cpp 1.2.
TEST(YamlTextTest, PythonReadsTheSame) {
  const TempDir directory;
  std::mt19937 random(20261130);
  std::ofstream yaml(directory.File("values.yaml"));
  std::ofstream json(directory.File("values.json"));
  const auto write = [&](const ordered_json& value) {
    yaml << "---\n" << ToYaml(value);
    json << value.dump() << "\n";
  };
  for (const char* trap : kTraps) write({{trap, trap}});
  for (const double number : {1e-05, 2.5e-07, 1e20, -3e+100, 1.0}) write({{"number", number}});
  for (int i = 0; i < 500; ++i) write(RandomValue(random, 3));
  yaml.close();
  json.close();
  std::ofstream(directory.File("compare.py"))
      << "import json, sys, yaml\n"
         "read = list(yaml.safe_load_all(open('values.yaml', encoding='utf-8', newline='')))\n"
         "meant = [json.loads(line) for line in open('values.json', encoding='utf-8', "
         "newline='\\n')]\n"
         "assert len(read) == len(meant) > 500, (len(read), len(meant))\n"
         "for a, b in zip(read, meant):\n"
         "    assert (type(a), a) == (type(b), b), (a, b)\n";
  SubprocessOptions options;
  options.argv = {"/bin/sh", "-c",
                  absl::StrCat("cd ", directory.path(), " && exec /usr/bin/python3 compare.py")};
  options.output_path = directory.File("output");
  const auto process = Subprocess::Start(options);
  ASSERT_TRUE(process.ok()) << process.status();
  const auto ended = (*process)->Wait(absl::Seconds(60));
  std::stringstream output;
  output << std::ifstream(options.output_path).rdbuf();
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_TRUE(ended->Succeeded()) << output.str();
}

// Commands

class OutputTest : public testing::Test {
 protected:
  std::string Run(std::vector<std::string> arguments, ExitCode expected = ExitCode::kOk) {
    arguments.insert(arguments.begin(), {"--server", sidecar_.address()});
    std::istringstream in(R"({"id":"a","ts":1})");
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(RunTtlctl(arguments, {in, out, err}), expected) << err.str();
    return out.str();
  }

  std::vector<YAML::Node> Documents(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-o", "yaml"});
    return YAML::LoadAll(Run(std::move(arguments)));
  }

  FakeSidecar sidecar_;
};

TEST_F(OutputTest, YamlHasADocumentPerObject) {
  v1::ListContainersResponse list;
  list.add_containers()->set_id("on");
  list.add_containers()->set_id("salesdb/orders");
  list.mutable_containers(1)->set_default_ttl(60);
  sidecar_.Answer("ListContainers", list);
  const std::vector<YAML::Node> documents = Documents({"containers", "list"});
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0]["id"].Scalar(), "on");
  EXPECT_EQ(documents[0]["id"].Tag(), "!") << "in quotes";
  EXPECT_FALSE(documents[0]["default_ttl"].IsDefined());
  EXPECT_EQ(documents[1]["default_ttl"].Scalar(), "60") << "as text, since JSON has 64 bits so";
}

TEST(YamlTextTest, IsInBlockStyleWithQuotesWhereNeeded) {
  EXPECT_EQ(ToYaml({{"id", "a/b"},
                    {"on", "no"},
                    {"empty", {{"list", ordered_json::array()}, {"map", ordered_json::object()}}},
                    {"list", {1, "1", {{"x", nullptr}, {"y", true}}}},
                    {"text", "a\n\"\\"}}),
            "id: a/b\n"
            "\"on\": \"no\"\n"
            "empty:\n"
            "  list: []\n"
            "  map: {}\n"
            "list:\n"
            "  - 1\n"
            "  - \"1\"\n"
            "  - x: null\n"
            "    \"y\": true\n"
            "text: \"a\\u000A\\\"\\\\\"\n");
}

TEST(YamlTextTest, CharactersThatCannotBeSeenAreEscaped) {
  EXPECT_EQ(ToYaml("\xEF\xBB\xBF"), "\"\\uFEFF\"\n");
  EXPECT_EQ(ToYaml("a\xC2\x9B"), "\"a\\u009B\"\n");
  EXPECT_EQ(ToYaml("\xF4\x8F\xBF\xBF"), "\"\\U0010FFFF\"\n");
  EXPECT_EQ(ToYaml("\xC3\xA9"), "\"\xC3\xA9\"\n");
}

TEST_F(OutputTest, TheFormatCanStandBeforeOrAfterTheCommand) {
  EXPECT_EQ(Run({"-o", "json", "clock", "show"}), Run({"clock", "show", "-o", "json"}));
  EXPECT_EQ(Run({"--json", "clock", "show"}), Run({"clock", "show", "--output=json"}));
  EXPECT_EQ(Run({"clock", "show", "-o", "table"}), Run({"clock", "show"}));
}

// What a command prints as JSON, line by line, it prints as YAML too.
TEST_F(OutputTest, EveryCommandHonoursTheFormat) {
  const std::vector<std::vector<std::string>> commands = {
      {"containers", "create", "c"},
      {"containers", "get", "c"},
      {"containers", "set", "c", "--default-ttl", "5"},
      {"containers", "set", "c", "--default-ttl", "5", "--dry-run"},
      {"containers", "confirm", "c"},
      {"containers", "delete", "c", "--yes"},
      {"import", "c", "-"},
      {"items", "track", "c", "a", "--ts", "1"},
      {"items", "untrack", "c", "a", "--ts", "1"},
      {"items", "touch", "c", "a"},
      {"items", "check", "c", "a"},
      {"items", "explain", "c", "a"},
      {"status"},
      {"status", "c"},
      {"pause", "c", "--reason", "x"},
      {"resume", "c"},
      {"clock", "show"},
      {"clock", "accept"},
      {"limits", "set", "--max-deletes-per-second", "5"},
      {"store", "confirm", "s"},
  };
  for (std::vector<std::string> command : commands) {
    const YAML::Node yaml = Documents(command).at(0);
    const std::string name = absl::StrCat(command[0], " ", command.size() > 1 ? command[1] : "");
    EXPECT_TRUE(yaml.IsMap()) << name;
    command.insert(command.end(), {"-o", "json"});
    const ordered_json json = ordered_json::parse(Run(command), nullptr, false);
    if (name == "items check") continue;  // has the time of the check
    EXPECT_EQ(FromYaml(yaml), json) << name;
  }
}

}  // namespace
}  // namespace ttl
