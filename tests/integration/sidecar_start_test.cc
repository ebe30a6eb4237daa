// How a sidecar starts, or refuses to, as a real process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/channel.h"
#include "tests/testing/expect_soon.h"
#include "tests/testing/process.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr absl::Duration kPatience = absl::Seconds(20);

// Runs a sidecar that is expected to end by itself, and returns its exit code.
int ExitCodeOf(SidecarProcess& sidecar) {
  if (!sidecar.Launch().ok()) return -1;
  const absl::StatusOr<ExitStatus> status = sidecar.process()->Wait(absl::Seconds(30));
  return status.ok() ? status->code.value_or(-2) : -3;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SidecarStartTest : public testing::Test {
 protected:
  SidecarProcessOptions Options(std::vector<std::string> flags = {}) const {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    options.flags = std::move(flags);
    return options;
  }

  const TempDir dir_;
};

TEST_F(SidecarStartTest, BecomesReadyAndLive) {
  SidecarProcess sidecar(Options());
  const absl::Status started = sidecar.Start();
  ASSERT_TRUE(started.ok()) << started;
  for (const char* service : {"", "startup", "readiness", "liveness"}) {
    const absl::Status health = CheckHealth(sidecar.channel(), service, kPatience);
    EXPECT_TRUE(health.ok()) << service << ": " << health;
  }
}

TEST_F(SidecarStartTest, ClockIsSoundInTheStatusAcrossRestarts) {
  SidecarProcess sidecar(Options());
  SidecarCalls calls(sidecar.channel());
  for (int i = 0; i < 3; ++i) {
    const absl::Status started = sidecar.Start();
    ASSERT_TRUE(started.ok()) << started;
    const auto status = calls.GetStatus();
    ASSERT_TRUE(status.ok()) << status.status();
    EXPECT_EQ(status->sidecar().clock().state(), v1::CLOCK_STATE_SOUND)
        << status->sidecar().clock().reason();
    EXPECT_TRUE(status->sidecar().storage_writable());
    if (i == 0) {
      ASSERT_TRUE(sidecar.Stop().ok());
    } else {
      sidecar.Kill();
    }
  }
}

TEST_F(SidecarStartTest, TcpPortIsChosenAndLogged) {
  SidecarProcess sidecar(Options({"--insecure-tcp", "--listen-tcp", "127.0.0.1:0,roles=reader"}));
  const absl::Status started = sidecar.Start();
  ASSERT_TRUE(started.ok()) << started;
  const std::vector<int> ports = sidecar.TcpPorts();
  ASSERT_EQ(ports.size(), 1U) << sidecar.Log();
  const auto channel = NewTestChannel(absl::StrCat("127.0.0.1:", ports[0]));
  EXPECT_TRUE(WaitUntil([&] { return CheckHealth(channel, "readiness").ok(); }, kPatience));
}

TEST_F(SidecarStartTest, NoPortIsLoggedOfMetricsOnASocket) {
  SidecarProcess sidecar(Options({absl::StrCat("--metrics-listen=unix:", dir_.File("m.sock"))}));
  ASSERT_TRUE(sidecar.Start().ok());
  EXPECT_SOON(sidecar.Log(), AllOf(HasSubstr("msg=\"metrics\""), Not(HasSubstr("port="))));
}

// Field report B100.
TEST_F(SidecarStartTest, SocketHasItsModeUnderAnyUmask) {
  for (const mode_t mask : {0022, 0077}) {
    const mode_t previous = umask(mask);
    SidecarProcess sidecar(Options({"--socket-mode", "0666"}));
    const absl::Status started = sidecar.Start();
    umask(previous);
    ASSERT_TRUE(started.ok()) << started;
    struct stat info = {};
    ASSERT_EQ(stat(sidecar.socket_path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, mode_t{0666});
  }
}

TEST_F(SidecarStartTest, BadValueEndsItWithCode2AndIsNamed) {
  const struct {
    std::vector<std::string> flags;
    const char* named;
  } kCases[] = {
      {{"--delete-deadline-seconds", "500ms"}, "\"500ms\""},
      {{"--max-deletes-per-second=-1"}, "\"-1\""},
      {{"--cache-mib=0"}, "--cache-mib"},
      {{"--no-such-flag"}, "--no-such-flag"},
      {{"--config", "/nowhere.toml"}, "/nowhere.toml"},
      {{"--containers", "/nowhere.yaml"}, "/nowhere.yaml"},
      {{"--socket-group", "no-such-group"}, "no-such-group"},
      {{"--listen-socket", "/nowhere/s.sock"}, "/nowhere/s.sock"},
      {{"--listen-tcp", "127.0.0.1:0"}, "127.0.0.1:0"},
      {{"--listen-tcp", "127.0.0.1:0", "--tls-cert-file", "/nowhere.crt", "--tls-key-file",
        "/nowhere.key"},
       "TLS of --listen-tcp: \\\"/nowhere.crt\\\""},
      {{"--store", "unix:/s.sock", "--store-tls-ca-file", "/nowhere.crt"},
       "TLS of --store: \\\"/nowhere.crt\\\""},
  };
  for (const auto& c : kCases) {
    const TempDir dir;
    SidecarProcessOptions options;
    options.dir = dir.path();
    options.flags = c.flags;
    SidecarProcess sidecar(options);
    EXPECT_EQ(ExitCodeOf(sidecar), 2) << c.named;
    EXPECT_SOON(sidecar.Log(), HasSubstr(c.named));
  }
}

// Field report B101.
TEST_F(SidecarStartTest, StartsAfterKill) {
  SidecarProcess sidecar(Options());
  ASSERT_TRUE(sidecar.Start().ok());
  sidecar.Kill();
  ASSERT_TRUE(std::filesystem::exists(sidecar.socket_path())) << "nothing is left over to replace";
  const absl::Status started = sidecar.Start();
  EXPECT_TRUE(started.ok()) << started;
}

TEST_F(SidecarStartTest, StartThatFailsLeavesNothingBehind) {
  std::ofstream(dir_.File("containers.yaml")) << "containers:\n  - {id: c, default_ttl: 60}\n";
  const std::string metrics = absl::StrCat("--metrics-listen=unix:", dir_.File("m.sock"));
  const std::string containers = absl::StrCat("--containers=", dir_.File("containers.yaml"));
  const std::vector<std::string> flags[] = {
      {metrics, containers, "--listen-socket", "/nowhere/s.sock"},
      {metrics, containers, "--socket-group", "no-such-group"},
      {metrics, containers, "--insecure-tcp", "--listen-tcp", "192.0.2.1:1,roles=admin"},
      {containers, "--metrics-listen=unix:/nowhere/m.sock"},
      {"--containers=/nowhere.yaml"},
  };
  for (const auto& set : flags) {
    SidecarProcess sidecar(Options(set));
    EXPECT_THAT(ExitCodeOf(sidecar), testing::AnyOf(1, 2)) << sidecar.Log();
    for (const auto& left : std::filesystem::directory_iterator(dir_.path())) {
      EXPECT_THAT(left.path().filename().string(), testing::AnyOf("containers.yaml", "sidecar.log"))
          << sidecar.Log();
    }
  }
}

TEST_F(SidecarStartTest, StartThatFailsLeavesADirectoryThatWasThere) {
  SidecarProcess sidecar(Options());
  ASSERT_TRUE(sidecar.Start().ok());
  ASSERT_TRUE(SidecarCalls(sidecar.channel()).CreateContainer("c", 60).ok());
  ASSERT_TRUE(sidecar.Stop().ok());
  SidecarProcess failing(Options({"--listen-socket", "/nowhere/s.sock"}));
  EXPECT_EQ(ExitCodeOf(failing), 2) << failing.Log();
  ASSERT_TRUE(sidecar.Start().ok());
  EXPECT_TRUE(SidecarCalls(sidecar.channel()).GetContainer("c").ok());
}

TEST_F(SidecarStartTest, ConfigThatNobodyWritesEndsItWithCode2) {
  ASSERT_EQ(mkfifo(dir_.File("config").c_str(), 0600), 0);
  SidecarProcess sidecar(Options({"--config", dir_.File("config")}));
  EXPECT_EQ(ExitCodeOf(sidecar), 2);
  EXPECT_SOON(sidecar.Log(), HasSubstr("did not come to an end within 5s"));
}

TEST_F(SidecarStartTest, UnknownVariableIsWarnedOf) {
  SidecarProcessOptions options = Options();
  options.env = {{"TTL_SIDECAR_CACHE_MB", "7"}, {"TTL_SIDECAR_PORT", "tcp://10.0.0.1:7070"}};
  SidecarProcess sidecar(options);
  ASSERT_TRUE(sidecar.Start().ok());
  EXPECT_SOON(sidecar.Log(), AllOf(HasSubstr("level=warn msg=\"unknown environment variable\" "
                                             "name=\"TTL_SIDECAR_CACHE_MB\""),
                                   Not(HasSubstr("TTL_SIDECAR_PORT"))));
}

TEST_F(SidecarStartTest, SecondCopyOnTheSameDataRefuses) {
  SidecarProcess first(Options());
  ASSERT_TRUE(first.Start().ok());
  SidecarProcessOptions options = Options();
  options.name = "second";
  std::filesystem::create_directory_symlink(first.data_dir(), dir_.File("second.data"));
  SidecarProcess second(options);
  EXPECT_EQ(ExitCodeOf(second), 1);
  EXPECT_SOON(second.Log(), HasSubstr("not started"));
  EXPECT_TRUE(CheckHealth(first.channel(), "readiness", kPatience).ok());
}

// Field report B101.
TEST_F(SidecarStartTest, SecondCopyOnTheSameSocketRefuses) {
  SidecarProcess first(Options());
  ASSERT_TRUE(first.Start().ok());
  // By another name, so that it is not the lock but the answer that is in the way.
  SidecarProcessOptions options = Options();
  options.name = "second";
  std::filesystem::create_hard_link(first.socket_path(), dir_.File("second.sock"));
  SidecarProcess second(options);
  EXPECT_EQ(ExitCodeOf(second), 1);
  EXPECT_SOON(second.Log(), HasSubstr("a server answers on it"));
  EXPECT_THAT(second.Log(), Not(HasSubstr("not ready"))) << "it never was";
  EXPECT_TRUE(CheckHealth(first.channel(), "readiness", kPatience).ok());
}

// Field report B101.
TEST_F(SidecarStartTest, PlainFileAtTheSocketPathIsNotRemoved) {
  std::ofstream(dir_.File("sidecar.sock")) << "precious";
  SidecarProcess sidecar(Options());
  EXPECT_EQ(ExitCodeOf(sidecar), 1);
  EXPECT_SOON(sidecar.Log(), HasSubstr("is not a socket"));
  EXPECT_EQ(std::filesystem::file_size(dir_.File("sidecar.sock")), 8u);
}

TEST_F(SidecarStartTest, DataDirIsChecked) {
  SidecarProcess sidecar(Options());
  ASSERT_TRUE(sidecar.Start().ok());
  SidecarCalls calls(sidecar.channel());
  ASSERT_TRUE(calls.CreateContainer("c", 60).ok());
  ASSERT_TRUE(calls.Track("c", "a", absl::ToUnixSeconds(absl::Now()), 5).ok());

  SidecarProcess checker(Options({"--check-data-dir"}));
  EXPECT_EQ(ExitCodeOf(checker), 1) << "it is in use";
  sidecar.Kill();
  EXPECT_EQ(ExitCodeOf(checker), 0);
  EXPECT_SOON(checker.Log(), HasSubstr("OK\n"));

  std::filesystem::remove(absl::StrCat(sidecar.data_dir(), "/CURRENT"));
  EXPECT_EQ(ExitCodeOf(checker), 1) << checker.Log();
}

TEST_F(SidecarStartTest, ADataDirThatCannotBeMadeEndsItWithCode2) {
  std::ofstream(dir_.File("file")) << "precious";
  const struct {
    std::string data_dir;
    const char* named;
  } kCases[] = {
      {dir_.File("file"), "file\\\" cannot be created: File exists"},
      {dir_.File("missing/data/"),
       "missing/data/\\\" cannot be created: No such file or directory"},
  };
  for (const auto& c : kCases) {
    SubprocessOptions command;
    command.argv = {TTL_SIDECAR_BINARY, "--listen-socket", dir_.File("s.sock"), "--data-dir",
                    c.data_dir};
    command.output_path = dir_.File("log");
    auto process = Subprocess::Start(command);
    ASSERT_TRUE(process.ok()) << process.status();
    const absl::StatusOr<ExitStatus> status = (*process)->Wait(absl::Seconds(30));
    ASSERT_TRUE(status.ok()) << status.status();
    EXPECT_EQ(status->code, 2) << c.data_dir;
    EXPECT_THAT(ReadAll(dir_.File("log")), AllOf(HasSubstr("--data-dir: "), HasSubstr(c.named)));
  }
}

TEST_F(SidecarStartTest, DataAreForTheUserOfTheProcessAlone) {
  SidecarProcess sidecar(Options());
  const mode_t previous = umask(0022);
  const absl::Status started = sidecar.Start();
  umask(previous);
  ASSERT_TRUE(started.ok()) << started;
  const auto is_private = [](const std::filesystem::path& path) {
    return (std::filesystem::status(path).permissions() & std::filesystem::perms(077)) ==
           std::filesystem::perms::none;
  };
  EXPECT_TRUE(is_private(sidecar.data_dir()));
  for (const auto& file : std::filesystem::directory_iterator(sidecar.data_dir())) {
    EXPECT_TRUE(is_private(file.path())) << file.path();
  }
  EXPECT_THAT(sidecar.Log(), Not(HasSubstr("accessible to others")));
}

TEST_F(SidecarStartTest, ADataDirThatIsOpenToOthersIsWarnedOf) {
  SidecarProcess sidecar(Options());
  std::filesystem::create_directory(sidecar.data_dir());
  std::filesystem::permissions(sidecar.data_dir(), std::filesystem::perms(0755));
  const absl::Status started = sidecar.Start();
  ASSERT_TRUE(started.ok()) << started;
  EXPECT_SOON(sidecar.Log(), HasSubstr("data directory is accessible to others"));
  EXPECT_SOON(sidecar.Log(), HasSubstr("mode=0755 expected=0700"));
}

TEST_F(SidecarStartTest, MissingDataDirIsNotSound) {
  SidecarProcess checker(Options({"--check-data-dir"}));
  EXPECT_EQ(ExitCodeOf(checker), 1);
  EXPECT_SOON(checker.Log(), HasSubstr("is not a directory"));
  EXPECT_FALSE(std::filesystem::exists(checker.data_dir()));
}

TEST_F(SidecarStartTest, TimeZoneChangesNothing) {
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  const auto start = [&](const char* zone) {
    SidecarProcessOptions options = Options();
    options.env = {{"TZ", zone}};
    auto sidecar = std::make_unique<SidecarProcess>(options);
    EXPECT_TRUE(sidecar->Start().ok());
    return sidecar;
  };
  {
    const auto sidecar = start("UTC");
    SidecarCalls calls(sidecar->channel());
    ASSERT_TRUE(calls.CreateContainer("c", 4 * 3600).ok());
    // Hours around the deadline: an offset of any zone would change an answer.
    for (int hours = -15; hours <= 15; ++hours) {
      ASSERT_TRUE(calls.Track("c", absl::StrCat(hours), now + hours * 3600 - 1800).ok());
    }
    ASSERT_TRUE(sidecar->Stop().ok());
  }
  for (const char* zone : {"UTC", "Asia/Shanghai", "America/New_York", "XYZ-14"}) {
    const auto sidecar = start(zone);
    SidecarCalls calls(sidecar->channel());
    for (int hours = -15; hours <= 15; ++hours) {
      const bool expired = hours * 3600 - 1800 + 4 * 3600 <= 0;
      EXPECT_EQ(calls.Check("c", absl::StrCat(hours)).value(),
                expired ? v1::VISIBILITY_EXPIRED : v1::VISIBILITY_VISIBLE)
          << zone << " " << hours;
    }
    // What was due when it was reported waits for a grace after the container's creation.
    EXPECT_TRUE(WaitUntil([&] {
      const auto status = calls.GetStatus("c");
      return status.ok() && status->container().backlog() == 12;
    })) << zone;
    ASSERT_TRUE(sidecar->Stop().ok());
  }
}

}  // namespace
}  // namespace ttl
