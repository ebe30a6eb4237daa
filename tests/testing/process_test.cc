#include "tests/testing/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(TempDirTest, RemovesItselfWithContents) {
  std::string path;
  {
    TempDir dir;
    path = dir.path();
    std::ofstream(dir.File("file")) << "content";
    EXPECT_TRUE(std::filesystem::exists(dir.File("file")));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(WaitUntilTest, ReturnsWhetherThePredicateHeld) {
  int calls = 0;
  EXPECT_TRUE(WaitUntil([&] { return ++calls == 3; }));
  EXPECT_FALSE(WaitUntil([] { return false; }, absl::Milliseconds(20)));
  EXPECT_TRUE(WaitUntil([] { return true; }, absl::ZeroDuration()));
}

TEST(SubprocessTest, CapturesOutputAndExitCodeAndEnvironment) {
  TempDir dir;
  auto process = Subprocess::Start({.argv = {"/bin/sh", "-c", "echo $WORD; echo err >&2; exit 3"},
                                    .env = {{"WORD", "hello"}},
                                    .output_path = dir.File("log")});
  ASSERT_TRUE(process.ok()) << process.status();
  const auto ended = (*process)->Wait(absl::Seconds(10));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->code, 3);
  EXPECT_EQ(ReadFile(dir.File("log")), "hello\nerr\n");
}

TEST(SubprocessTest, SaysWhyAProgramCannotBeExecuted) {
  const auto process =
      Subprocess::Start({.argv = {"/no/such/program"}, .env = {}, .output_path = ""});
  EXPECT_EQ(process.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(process.status().message(), testing::HasSubstr("/no/such/program"));
}

TEST(SubprocessTest, StopsAndContinuesAndDiesBySignal) {
  auto process = Subprocess::Start({.argv = {"/bin/sleep", "60"}, .env = {}, .output_path = ""});
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_TRUE((*process)->Suspend().ok());
  EXPECT_TRUE((*process)->Suspend().ok());
  EXPECT_TRUE((*process)->IsRunning());
  EXPECT_TRUE(absl::IsDeadlineExceeded((*process)->Wait(absl::Milliseconds(20)).status()));
  EXPECT_TRUE((*process)->Resume().ok());
  EXPECT_TRUE((*process)->Signal(SIGTERM).ok());
  const auto ended = (*process)->Wait(absl::Seconds(10));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->signal, SIGTERM);
  EXPECT_TRUE(absl::IsFailedPrecondition((*process)->Signal(SIGTERM)));
}

// As where the tests are the background job of a shell.
TEST(SubprocessTest, ObeysTheSignalsOfATerminalWhereThisProcessIgnoresThem) {
  for (const int number : {SIGINT, SIGQUIT}) {
    const auto before = signal(number, SIG_IGN);
    auto process = Subprocess::Start({.argv = {"/bin/sh", "-c", "ulimit -c 0; exec /bin/sleep 60"},
                                      .env = {},
                                      .output_path = ""});
    signal(number, before);
    ASSERT_TRUE(process.ok()) << process.status();
    EXPECT_TRUE((*process)->Signal(number).ok());
    const auto ended = (*process)->Wait(absl::Seconds(30));
    ASSERT_TRUE(ended.ok()) << ended.status();
    EXPECT_EQ(ended->signal, number);
  }
}

TEST(SubprocessTest, ASuspendedProcessHasStopped) {
  auto process = Subprocess::Start(
      {.argv = {"/bin/bash", "-c", "while :; do :; done"}, .env = {}, .output_path = ""});
  ASSERT_TRUE(process.ok()) << process.status();
  for (int round = 0; round < 100; ++round) {
    ASSERT_TRUE((*process)->Suspend().ok());
    EXPECT_THAT(ReadFile(absl::StrCat("/proc/", (*process)->pid(), "/stat")),
                testing::HasSubstr(") T "));
    ASSERT_TRUE((*process)->Resume().ok());
  }
  (*process)->Kill();
  EXPECT_TRUE(absl::IsFailedPrecondition((*process)->Suspend()));
}

TEST(SubprocessTest, IsKilledOnDestruction) {
  pid_t pid = 0;
  {
    auto process = Subprocess::Start({.argv = {"/bin/sleep", "60"}, .env = {}, .output_path = ""});
    ASSERT_TRUE(process.ok()) << process.status();
    pid = (*process)->pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

}  // namespace
}  // namespace ttl
