#include "service/server/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Sets an environment variable for the time of a scope.
class ScopedEnv {
 public:
  ScopedEnv(std::string name, const std::string& value) : name_(std::move(name)) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~ScopedEnv() { unsetenv(name_.c_str()); }
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;

 private:
  const std::string name_;
};

absl::StatusOr<CommandLine> Parse(std::vector<std::string> arguments) {
  std::vector<const char*> argv = {"ttl-sidecar"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return ParseCommandLine(static_cast<int>(argv.size()), argv.data());
}

std::string WriteFile(const TempDir& dir, const std::string& text) {
  const std::string path = dir.File("sidecar.toml");
  std::ofstream(path) << text;
  return path;
}

TEST(ConfigTest, DefaultsAreThoseOfTheStruct) {
  const absl::StatusOr<CommandLine> line = Parse({});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->text, "");
  EXPECT_THAT(line->config.listen_sockets,
              ElementsAre(ListenSocket{.path = "/run/ttl-sidecar/sidecar.sock"}));
  EXPECT_THAT(line->config.listen_tcp, IsEmpty());
  EXPECT_EQ(line->config.socket_mode, mode_t{0660});
  EXPECT_EQ(line->config.delete_batch_items, 500);
  EXPECT_EQ(line->config.delete_deadline, absl::Seconds(5));
  EXPECT_EQ(line->config.cache_bytes, 64 << 20);
  EXPECT_EQ(line->config.max_deletes_per_second, std::nullopt);
  EXPECT_FALSE(line->config.check_data_dir);
}

TEST(ConfigTest, EveryFlagIsRead) {
  const absl::StatusOr<CommandLine> line = Parse({"--listen-socket",
                                                  "/tmp/a b,c.sock",
                                                  "--socket-mode",
                                                  "0600",
                                                  "--socket-group",
                                                  "adm",
                                                  "--listen-tcp",
                                                  "[::1]:0,roles=reader",
                                                  "--health-tcp",
                                                  "127.0.0.1:0",
                                                  "--tls-cert-file",
                                                  "/tmp/cert",
                                                  "--tls-key-file",
                                                  "/tmp/key",
                                                  "--tls-client-ca-file",
                                                  "/tmp/ca",
                                                  "--access-file",
                                                  "/tmp/access",
                                                  "--store-tls-ca-file",
                                                  "/tmp/store-ca",
                                                  "--store-tls-cert-file",
                                                  "/tmp/store-cert",
                                                  "--store-tls-key-file",
                                                  "/tmp/store-key",
                                                  "--store-tls-server-name",
                                                  "store.example",
                                                  "--store",
                                                  "unix:/tmp/store.sock",
                                                  "--data-dir",
                                                  "/tmp/data",
                                                  "--containers",
                                                  "/tmp/c.yaml",
                                                  "--max-deletes-per-second",
                                                  "0",
                                                  "--container-max-deletes-per-second",
                                                  "0.5",
                                                  "--delete-batch-items",
                                                  "1",
                                                  "--delete-deadline-seconds",
                                                  "2",
                                                  "--policy-grace-seconds",
                                                  "3",
                                                  "--max-store-clock-skew-seconds",
                                                  "4",
                                                  "--max-calls-under-way",
                                                  "64",
                                                  "--not-found-burst-items",
                                                  "0",
                                                  "--start-paused",
                                                  "--cache-mib",
                                                  "5",
                                                  "--block-cache-mib",
                                                  "6",
                                                  "--max-queued-writes",
                                                  "7",
                                                  "--max-queued-mib",
                                                  "8",
                                                  "--report-floor-mib",
                                                  "10",
                                                  "--outcome-floor-mib",
                                                  "9",
                                                  "--max-message-mib",
                                                  "11",
                                                  "--max-connections",
                                                  "15",
                                                  "--max-streams-per-connection",
                                                  "12",
                                                  "--rpc-memory-mib",
                                                  "13",
                                                  "--call-threads",
                                                  "3",
                                                  "--metrics-listen",
                                                  "127.0.0.1:9464",
                                                  "--metrics-containers",
                                                  "7",
                                                  "--status-page",
                                                  "[::1]:9465",
                                                  "--stop-deadline-seconds",
                                                  "14",
                                                  "--log-level",
                                                  "warning",
                                                  "--log-format",
                                                  "json",
                                                  "--check-data-dir"});
  ASSERT_TRUE(line.ok()) << line.status();
  const ServerConfig& config = line->config;
  EXPECT_THAT(config.listen_sockets, ElementsAre(ListenSocket{.path = "/tmp/a b,c.sock"}));
  EXPECT_EQ(config.socket_mode, mode_t{0600});
  EXPECT_EQ(config.socket_group, "adm");
  EXPECT_THAT(config.listen_tcp,
              ElementsAre(ListenTcp{.host_port = "[::1]:0", .roles = {Role::kReader}}));
  EXPECT_EQ(config.health_tcp, "127.0.0.1:0");
  EXPECT_EQ(config.metrics_listen, "127.0.0.1:9464");
  EXPECT_EQ(config.metrics_containers, 7);
  EXPECT_EQ(config.status_page, "[::1]:9465");
  EXPECT_EQ(config.tls.cert_file, "/tmp/cert");
  EXPECT_EQ(config.tls.key_file, "/tmp/key");
  EXPECT_EQ(config.tls.ca_file, "/tmp/ca");
  EXPECT_EQ(config.access_file, "/tmp/access");
  EXPECT_EQ(config.store_tls.ca_file, "/tmp/store-ca");
  EXPECT_EQ(config.store_tls.cert_file, "/tmp/store-cert");
  EXPECT_EQ(config.store_tls.key_file, "/tmp/store-key");
  EXPECT_EQ(config.store_tls_server_name, "store.example");
  EXPECT_EQ(config.store, "unix:/tmp/store.sock");
  EXPECT_EQ(config.data_dir, "/tmp/data");
  EXPECT_EQ(config.containers_file, "/tmp/c.yaml");
  EXPECT_EQ(config.max_deletes_per_second, 0.0);
  EXPECT_EQ(config.container_max_deletes_per_second, 0.5);
  EXPECT_EQ(config.max_calls_under_way, 64);
  EXPECT_EQ(config.not_found_burst_items, 0);
  EXPECT_TRUE(config.start_paused);
  EXPECT_EQ(config.delete_batch_items, 1);
  EXPECT_EQ(config.delete_deadline, absl::Seconds(2));
  EXPECT_EQ(config.policy_grace, absl::Seconds(3));
  EXPECT_EQ(config.max_store_clock_skew, absl::Seconds(4));
  EXPECT_EQ(config.cache_bytes, 5 << 20);
  EXPECT_EQ(config.block_cache_bytes, 6 << 20);
  EXPECT_EQ(config.max_queued_writes, 7);
  EXPECT_EQ(config.max_queued_bytes, 8 << 20);
  EXPECT_EQ(config.report_floor_bytes, 10 << 20);
  EXPECT_EQ(config.outcome_floor_bytes, 9 << 20);
  EXPECT_EQ(config.max_message_bytes, 11 << 20);
  EXPECT_EQ(config.max_connections, 15);
  EXPECT_EQ(config.max_streams_per_connection, 12);
  EXPECT_EQ(config.rpc_memory_bytes, 13 << 20);
  EXPECT_EQ(config.call_threads, 3);
  EXPECT_EQ(config.stop_deadline, absl::Seconds(14));
  EXPECT_EQ(config.log_level, spdlog::level::warn);
  EXPECT_TRUE(config.logs_json);
  EXPECT_TRUE(config.check_data_dir);
}

struct BadValue {
  const char* flag;
  std::vector<std::string> values;
  const char* right;  // part of what the message says would be right
};

// Durations and sizes carry their unit in the name of the flag, so a value with a
// unit, or with the wrong sign, is refused rather than guessed at.
const BadValue kBadValues[] = {
    {"--socket-mode", {"", "660x", "888", "66", "00660", "-660", "1777", "rw"}, "octal"},
    {"--listen-socket", {"/s,mode=7", "/s,mode=0888"}, "octal"},
    {"--listen-socket", {"/s,roles=", "/s,roles=all", "/s,roles=store,roles=x"}, "store+reader"},
    {"--listen-socket", {"/s,owner=me", "/s,group="}, "mode=OCTAL"},
    {"--listen-tcp", {"127.0.0.1:0,mode=0600"}, "roles=ROLE+ROLE"},
    {"--listen-tcp", {"127.0.0.1:0,roles=store+"}, "store+reader"},
    {"--health-tcp", {"", "7070", "127.0.0.1:7070,roles=reader"}, "HOST:PORT"},
    {"--listen-tcp",
     {"", "7070", "localhost", ":7070", "localhost:", "localhost:65536", "localhost:-1", "::1:7070",
      "localhost:0x10"},
     "HOST:PORT"},
    {"--store",
     {"", "unix:", "http://store:1", "https://store:1", "/run/store.sock", "store"},
     "gRPC address"},
    {"--max-deletes-per-second", {"", "-1", "nan", "inf", "ten", "10/s", " 5"}, "number from 0"},
    {"--container-max-deletes-per-second", {"-0.5", "1e999"}, "number from 0"},
    {"--delete-batch-items",
     {"", "0", "-1", "1.5", "010", "0x10", " 5", "10001", "5 items"},
     "items"},
    {"--delete-deadline-seconds", {"", "0", "-1", "5s", "500ms", "0.5", "301"}, "without a unit"},
    {"--policy-grace-seconds", {"0", "-60", "1m", "99999999999999999999"}, "without a unit"},
    {"--max-store-clock-skew-seconds", {"0", "-1", "500ms"}, "without a unit"},
    {"--cache-mib", {"0", "-1", "64M", "1048577", "9223372036854775807"}, "MiB"},
    {"--block-cache-mib", {"0", "-1"}, "MiB"},
    {"--max-queued-writes", {"0", "-1"}, "whole number"},
    {"--max-queued-mib", {"0", "-1"}, "MiB"},
    {"--report-floor-mib", {"0", "-1"}, "MiB"},
    {"--outcome-floor-mib", {"0", "-1"}, "MiB"},
    {"--max-message-mib", {"0", "-1", "1025"}, "MiB"},
    {"--max-connections", {"0", "-1"}, "whole number"},
    {"--max-streams-per-connection", {"0", "-1"}, "whole number"},
    {"--rpc-memory-mib", {"0", "-1"}, "MiB"},
    {"--call-threads", {"-1", "65", "all"}, "threads"},
    {"--metrics-listen", {"", "9464", ":9464", "unix:", "http://localhost:1/metrics"}, "HOST:PORT"},
    {"--metrics-containers", {"-1", "1001", "all"}, "containers"},
    {"--status-page",
     {"", "9465", "unix:", "localhost", "http://localhost:1"},
     "HOST:PORT, such as 127.0.0.1:9465, or unix:PATH"},
    {"--status-page",
     {"0.0.0.0:9465", "[::]:9465", "10.0.0.1:9465", "page.example:9465"},
     "clients need certificates with the role reader"},
    {"--stop-deadline-seconds", {"0", "-1", "10s"}, "without a unit"},
    {"--log-level", {"", "INFO", "warn", "0"}, "debug, info, warning or error"},
    {"--log-format", {"", "JSON", "text"}, "logfmt or json"},
};

TEST(ConfigTest, BadFlagNamesItselfItsValueAndWhatIsRight) {
  for (const BadValue& bad : kBadValues) {
    for (const std::string& value : bad.values) {
      SCOPED_TRACE(absl::StrCat(bad.flag, "=", value));
      const absl::StatusOr<CommandLine> line =
          value.empty() ? Parse({bad.flag, ""}) : Parse({absl::StrCat(bad.flag, "=", value)});
      ASSERT_EQ(line.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(line.status().message()),
                  AllOf(HasSubstr(bad.flag), HasSubstr(absl::StrCat("\"", value, "\"")),
                        HasSubstr(bad.right)));
    }
  }
}

TEST(ConfigTest, BadValueOfTheFileNamesItselfItsValueAndWhatIsRight) {
  const TempDir dir;
  for (const BadValue& bad : kBadValues) {
    for (const std::string& value : bad.values) {
      if (value.empty() || value[0] == ' ') continue;  // the file format trims blanks
      const std::string key = std::string(bad.flag).substr(2);
      SCOPED_TRACE(absl::StrCat(key, "=", value));
      const std::string path = WriteFile(dir, absl::StrCat(key, " = \"", value, "\"\n"));
      const absl::StatusOr<CommandLine> line = Parse({"--config", path});
      ASSERT_EQ(line.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(line.status().message()),
                  AllOf(HasSubstr(bad.flag), HasSubstr(absl::StrCat("\"", value, "\"")),
                        HasSubstr(bad.right)));
    }
  }
}

TEST(ConfigTest, BadEnvironmentVariableNamesItself) {
  const ScopedEnv env("TTL_SIDECAR_DELETE_DEADLINE_SECONDS", "500ms");
  EXPECT_THAT(std::string(Parse({}).status().message()),
              AllOf(HasSubstr("TTL_SIDECAR_DELETE_DEADLINE_SECONDS"), HasSubstr("\"500ms\"")));
}

TEST(ConfigTest, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  const TempDir dir;
  const std::string path = WriteFile(dir,
                                     "# sizes\n"
                                     "cache-mib = 1\n"
                                     "block-cache-mib = 1  # a remark\n"
                                     "max-queued-mib = \"1\"\n");
  const ScopedEnv config("TTL_SIDECAR_CONFIG", path);
  const ScopedEnv cache("TTL_SIDECAR_CACHE_MIB", "2");
  const ScopedEnv block_cache("TTL_SIDECAR_BLOCK_CACHE_MIB", "2");
  const absl::StatusOr<CommandLine> line = Parse({"--cache-mib", "3"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->config.cache_bytes, 3 << 20);
  EXPECT_EQ(line->config.block_cache_bytes, 2 << 20);
  EXPECT_EQ(line->config.max_queued_bytes, 1 << 20);
  EXPECT_EQ(line->config.report_floor_bytes, 256 << 20);
}

TEST(ConfigTest, EmptyEnvironmentVariableCountsAsAbsent) {
  const ScopedEnv env("TTL_SIDECAR_STORE", "");
  ASSERT_TRUE(Parse({}).ok());
}

TEST(ConfigTest, PathsOfTheFileMayHaveCommasAndBlanks) {
  const TempDir dir;
  const std::string path =
      WriteFile(dir, "data-dir = \"/srv/a, b\"\nlisten-socket = /run/x.sock\n");
  const absl::StatusOr<CommandLine> line = Parse({"--config", path});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->config.data_dir, "/srv/a, b");
  EXPECT_THAT(line->config.listen_sockets, ElementsAre(ListenSocket{.path = "/run/x.sock"}));
}

TEST(ConfigTest, ExampleIsReadAndShowsTheDefaults) {
  std::ifstream example(EXAMPLE_DIR "/sidecar.example.toml");
  ASSERT_TRUE(example.is_open());
  std::string all;
  for (std::string line; std::getline(example, line);) {
    // Each setting counts, also those that are commented out.
    all += absl::StartsWith(line, "# ") && absl::StrContains(line, " = ") ? line.substr(2) : line;
    all += "\n";
  }
  const TempDir dir;
  const absl::StatusOr<CommandLine> line = Parse({"--config", WriteFile(dir, all)});
  ASSERT_TRUE(line.ok()) << line.status();
  const ServerConfig defaults;
  EXPECT_EQ(line->config.listen_sockets, defaults.listen_sockets);
  EXPECT_EQ(line->config.socket_mode, defaults.socket_mode);
  EXPECT_EQ(line->config.data_dir, defaults.data_dir);
  EXPECT_EQ(line->config.delete_batch_items, defaults.delete_batch_items);
  EXPECT_EQ(line->config.delete_deadline, defaults.delete_deadline);
  EXPECT_EQ(line->config.policy_grace, defaults.policy_grace);
  EXPECT_EQ(line->config.max_store_clock_skew, defaults.max_store_clock_skew);
  EXPECT_EQ(line->config.max_calls_under_way, defaults.max_calls_under_way);
  EXPECT_EQ(line->config.not_found_burst_items, defaults.not_found_burst_items);
  EXPECT_EQ(line->config.start_paused, defaults.start_paused);
  EXPECT_EQ(line->config.cache_bytes, defaults.cache_bytes);
  EXPECT_EQ(line->config.block_cache_bytes, defaults.block_cache_bytes);
  EXPECT_EQ(line->config.max_queued_writes, defaults.max_queued_writes);
  EXPECT_EQ(line->config.max_queued_bytes, defaults.max_queued_bytes);
  EXPECT_EQ(line->config.report_floor_bytes, defaults.report_floor_bytes);
  EXPECT_EQ(line->config.outcome_floor_bytes, defaults.outcome_floor_bytes);
  EXPECT_EQ(line->config.max_message_bytes, defaults.max_message_bytes);
  EXPECT_EQ(line->config.max_connections, defaults.max_connections);
  EXPECT_EQ(line->config.max_streams_per_connection, defaults.max_streams_per_connection);
  EXPECT_EQ(line->config.rpc_memory_bytes, defaults.rpc_memory_bytes);
  EXPECT_EQ(line->config.call_threads, defaults.call_threads);
  EXPECT_EQ(line->config.metrics_containers, defaults.metrics_containers);
  EXPECT_EQ(line->config.stop_deadline, defaults.stop_deadline);
  EXPECT_EQ(line->config.log_level, defaults.log_level);
}

TEST(ConfigTest, ASwitchIsGivenOrHasTheValueTrueOrFalse) {
  const TempDir dir;
  EXPECT_FALSE(Parse({})->config.start_paused);
  EXPECT_TRUE(Parse({"--start-paused"})->config.start_paused);
  EXPECT_FALSE(Parse({"--start-paused=false"})->config.start_paused);
  EXPECT_TRUE(Parse({"--config", WriteFile(dir, "start-paused = true\n")})->config.start_paused);
  {
    const ScopedEnv environment("TTL_SIDECAR_START_PAUSED", "true");
    EXPECT_TRUE(Parse({})->config.start_paused);
    EXPECT_FALSE(Parse({"--start-paused=false"})->config.start_paused);
  }
  {
    const ScopedEnv environment("TTL_SIDECAR_START_PAUSED", "false");
    const std::string file = WriteFile(dir, "start-paused = true\n");
    EXPECT_FALSE(Parse({"--config", file})->config.start_paused);
  }
  for (const char* value : {"yes", "1", "maybe", "TRUE"}) {
    const ScopedEnv environment("TTL_SIDECAR_START_PAUSED", value);
    EXPECT_EQ(std::string(Parse({}).status().message()),
              absl::StrCat("--start-paused: \"", value,
                           "\" is not allowed; give true or false (see ttl-sidecar --help)"));
    EXPECT_FALSE(
        Parse({"--config", WriteFile(dir, absl::StrCat("start-paused = ", value, "\n"))}).ok())
        << value;
  }
}

TEST(ConfigTest, UnknownThingsAreNamed) {
  const TempDir dir;
  EXPECT_THAT(std::string(Parse({"--cache-mb", "1"}).status().message()), HasSubstr("--cache-mb"));
  EXPECT_THAT(std::string(Parse({"serve"}).status().message()), HasSubstr("serve"));
  for (const char* text :
       {"cache-mb = 64\n", "config = other\n", "check-data-dir = true\n", "help = true\n"}) {
    const std::string path = WriteFile(dir, text);
    EXPECT_THAT(std::string(Parse({"--config", path}).status().message()),
                AllOf(HasSubstr(path), HasSubstr("unknown key")))
        << text;
  }
}

TEST(ConfigTest, SomethingGivenTwiceIsRefused) {
  const TempDir dir;
  EXPECT_THAT(std::string(Parse({"--cache-mib", "1", "--cache-mib", "2"}).status().message()),
              HasSubstr("--cache-mib"));
  for (const char* text :
       {"cache-mib = 1\ncache-mib = 2\n", "cache-mib = 1\nmax-queued-mib = 3\ncache-mib = 2\n"}) {
    EXPECT_THAT(std::string(Parse({"--config", WriteFile(dir, text)}).status().message()),
                HasSubstr("\"cache-mib\" is given more than once"))
        << text;
  }
}

TEST(ConfigTest, AFileThatCannotBeReadIsNamed) {
  const TempDir dir;
  for (const std::string& file : {std::string("/nowhere/a.toml"), std::string(dir.path())}) {
    EXPECT_THAT(std::string(Parse({"--config", file}).status().message()),
                AllOf(HasSubstr("--config"), HasSubstr(file)));
  }
  EXPECT_TRUE(Parse({"--config", WriteFile(dir, "")}).ok()) << "an empty one says nothing";
}

TEST(ConfigTest, OneThingIsDoneInsteadOfServing) {
  const std::vector<std::vector<std::string>> kTogether = {
      {"--check-data-dir", "--repair", "/old"},
      {"--check-data-dir", "--restore", "/backup"},
      {"--repair", "/old", "--restore", "/backup"},
  };
  for (const auto& arguments : kTogether) {
    EXPECT_THAT(std::string(Parse(arguments).status().message()), HasSubstr("excludes"))
        << testing::PrintToString(arguments);
  }
}

TEST(ConfigTest, SomethingToListenOnIsNeeded) {
  EXPECT_THAT(std::string(Parse({"--listen-socket", ""}).status().message()),
              AllOf(HasSubstr("--listen-socket"), HasSubstr("--listen-tcp")));
  EXPECT_TRUE(
      Parse({"--listen-socket", "", "--insecure-tcp", "--listen-tcp", "127.0.0.1:0,roles=store"})
          .ok());
}

TEST(ConfigTest, SeveralSocketsEachHaveTheirOwn) {
  const std::vector<ListenSocket> expected = {
      {.path = "/a.sock"},
      {.path = "/b,c.sock", .mode = 0600, .group = "ops", .roles = {Role::kAdmin, Role::kReader}}};
  const absl::StatusOr<CommandLine> flags =
      Parse({"--listen-socket", "/a.sock", "--listen-socket",
             "/b,c.sock,mode=0600,group=ops,roles=admin+reader"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->config.listen_sockets, expected);

  const TempDir dir;
  const std::string text =
      "listen-socket = \"/a.sock\"\nlog-level = error\n"
      "listen-socket = \"/b,c.sock,mode=0600,group=ops,roles=admin+reader\"\n";
  const absl::StatusOr<CommandLine> file = Parse({"--config", WriteFile(dir, text)});
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->config.listen_sockets, expected);
  // Given as a flag, it takes the place of all that the file lists.
  const absl::StatusOr<CommandLine> both =
      Parse({"--config", WriteFile(dir, text), "--listen-socket", "/d.sock"});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(both->config.listen_sockets, ElementsAre(ListenSocket{.path = "/d.sock"}));
}

TEST(ConfigTest, SettingsThatDoNotGoTogetherAreNamed) {
  const std::vector<std::string> tls = {"--tls-cert-file", "/c", "--tls-key-file", "/k"};
  const struct {
    std::vector<std::string> arguments;
    bool with_tls;
    std::vector<const char*> named;
  } kCases[] = {
      {{"--listen-tcp", "127.0.0.1:7"},
       false,
       {"127.0.0.1:7", "--tls-cert-file", "--insecure-tcp"}},
      {{"--listen-tcp", "127.0.0.1:7", "--insecure-tcp"}, false, {"127.0.0.1:7,roles="}},
      {{"--listen-tcp", "127.0.0.1:7", "--insecure-tcp"}, true, {"--insecure-tcp", "exclude"}},
      {{"--tls-cert-file", "/c"}, false, {"--tls-key-file"}},
      {{"--tls-key-file", "/k"}, false, {"--tls-cert-file"}},
      {{"--tls-client-ca-file", "/a"}, false, {"--tls-client-ca-file", "--tls-cert-file"}},
      {{"--access-file", "/a"}, true, {"--access-file", "--tls-client-ca-file"}},
      {{"--listen-socket", "/s", "--listen-socket", "/s,mode=0600"}, false, {"\"/s\"", "twice"}},
      {{"--store", "store:7071"}, false, {"store:7071", "--store-tls-ca-file", "--insecure-store"}},
      {{"--store", "dns:///store:7071"}, false, {"dns:///store:7071"}},
      {{"--store-tls-ca-file", "/a", "--insecure-store"}, false, {"exclude"}},
      {{"--store-tls-ca-file", "/a", "--store-tls-cert-file", "/c"},
       false,
       {"--store-tls-key-file"}},
      {{"--store-tls-cert-file", "/c", "--store-tls-key-file", "/k"},
       false,
       {"--store-tls-ca-file"}},
      {{"--store-tls-server-name", "s"}, false, {"--store-tls-ca-file"}},
  };
  for (const auto& c : kCases) {
    std::vector<std::string> arguments = c.arguments;
    if (c.with_tls) arguments.insert(arguments.end(), tls.begin(), tls.end());
    const absl::Status status = Parse(arguments).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << arguments[0];
    for (const char* named : c.named) EXPECT_THAT(std::string(status.message()), HasSubstr(named));
  }
}

TEST(ConfigTest, TcpAndStoreGoWithoutTlsIfAskedTo) {
  EXPECT_TRUE(Parse({"--store", "store:7071", "--insecure-store"}).ok());
  EXPECT_TRUE(Parse({"--store", "unix:/s.sock"}).ok());
  EXPECT_TRUE(Parse({"--listen-tcp", "127.0.0.1:7,roles=reader", "--insecure-tcp"}).ok());
  EXPECT_TRUE(Parse({"--health-tcp", "0.0.0.0:7"}).ok());
}

TEST(ConfigTest, OutcomeFloorIsNotAboveReportFloor) {
  EXPECT_THAT(std::string(Parse({"--outcome-floor-mib=300"}).status().message()),
              AllOf(HasSubstr("--outcome-floor-mib"), HasSubstr("\"300\""),
                    HasSubstr("--report-floor-mib, 256")));
}

TEST(ConfigTest, StopDeadlineLeavesTimeForADeleteOnItsWay) {
  EXPECT_THAT(std::string(Parse({"--stop-deadline-seconds=7"}).status().message()),
              AllOf(HasSubstr("--stop-deadline-seconds"), HasSubstr("\"7\""),
                    HasSubstr("--delete-deadline-seconds + 3, 8")));
  EXPECT_TRUE(Parse({"--stop-deadline-seconds=8"}).ok());
}

TEST(ConfigTest, MetricsAreNowhereUnlessAskedFor) {
  EXPECT_EQ(Parse({})->config.metrics_listen, "");
  EXPECT_EQ(Parse({"--metrics-listen", "unix:/tmp/m.sock"})->config.metrics_listen,
            "unix:/tmp/m.sock");
}

TEST(ConfigTest, TheStatusPageIsOffUnlessAskedFor) {
  EXPECT_EQ(Parse({})->config.status_page, "");
  for (const char* address : {"unix:/tmp/p.sock", "127.0.0.1:0", "localhost:9465", "[::1]:1"}) {
    const absl::StatusOr<CommandLine> line = Parse({"--status-page", address});
    ASSERT_TRUE(line.ok()) << line.status();
    EXPECT_EQ(line->config.status_page, address);
  }
}

TEST(ConfigTest, AStatusPageForOtherMachinesNeedsClientCertificatesWithRoles) {
  const std::vector<std::string> tls = {"--tls-cert-file=c", "--tls-key-file=k"};
  std::vector<std::string> all = tls;
  all.insert(all.end(), {"--tls-client-ca-file=a", "--access-file=f"});
  for (const char* address : {"0.0.0.0:9465", "[::]:0", "127.0.0.2:1", "page.example:443"}) {
    for (const std::vector<std::string>& given : {std::vector<std::string>(), tls, all}) {
      std::vector<std::string> arguments = given;
      arguments.push_back(absl::StrCat("--status-page=", address));
      const absl::StatusOr<CommandLine> line = Parse(arguments);
      EXPECT_EQ(line.ok(), given == all) << address << " " << given.size();
      if (line.ok()) continue;
      EXPECT_THAT(std::string(line.status().message()),
                  AllOf(HasSubstr("--status-page"), HasSubstr(address), HasSubstr("role reader"),
                        HasSubstr("--tls-client-ca-file and --access-file")));
    }
  }
}

TEST(ConfigTest, HelpTellsDefaultAndVariableOfEachFlag) {
  const absl::StatusOr<CommandLine> line = Parse({"--help"});
  ASSERT_TRUE(line.ok()) << line.status();
  for (const BadValue& flag : kBadValues) EXPECT_THAT(line->text, HasSubstr(flag.flag));
  EXPECT_THAT(line->text, AllOf(HasSubstr("TTL_SIDECAR_STOP_DEADLINE_SECONDS"), HasSubstr("0660")));
}

TEST(ConfigTest, VersionIsPrinted) {
  const absl::StatusOr<CommandLine> line = Parse({"--version"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_THAT(line->text, testing::MatchesRegex("ttl-sidecar [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(ConfigTest, SectionOfTheFileIsNamedAsOne) {
  const TempDir dir;
  for (const char* text : {"[storage]\ncache-mib = 1\n", "storage.cache-mib = 1\n"}) {
    const absl::StatusOr<CommandLine> line = Parse({"--config", WriteFile(dir, text)});
    EXPECT_EQ(line.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(line.status().message()), HasSubstr("section \"storage\"")) << text;
  }
}

TEST(ConfigTest, RootIsNoDataDirectoryByWhateverName) {
  const TempDir dir;
  std::filesystem::create_directory_symlink("/", dir.File("link"));
  for (const std::string& path :
       {std::string("/"), std::string("//"), std::string("/tmp/.."), dir.File("link")}) {
    const absl::StatusOr<CommandLine> line = Parse({"--data-dir", path});
    EXPECT_EQ(line.status().code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_THAT(std::string(line.status().message()),
                AllOf(HasSubstr("--data-dir"), HasSubstr(path)));
  }
  EXPECT_TRUE(Parse({"--data-dir", dir.path()}).ok());
  EXPECT_TRUE(Parse({"--data-dir", dir.File("new")}).ok());
}

TEST(ConfigTest, UnknownVariablesAreTold) {
  const ScopedEnv known("TTL_SIDECAR_CACHE_MIB", "7");
  const ScopedEnv mistyped("TTL_SIDECAR_CACHE_MB", "7");
  const absl::StatusOr<CommandLine> line = Parse({});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_THAT(line->unknown_variables, testing::Contains("TTL_SIDECAR_CACHE_MB"));
  EXPECT_THAT(line->unknown_variables, testing::Not(testing::Contains("TTL_SIDECAR_CACHE_MIB")));
}

}  // namespace
}  // namespace ttl
