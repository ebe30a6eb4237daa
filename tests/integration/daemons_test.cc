// What all daemons have in common: how they take signals, and how they refuse to start.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/testing/process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using testing::ContainsRegex;

constexpr absl::Duration kPatience = absl::Seconds(60);

struct Daemon {
  const char* name;
  const char* binary;
  std::vector<std::string> (*arguments)(const TempDir& dir);
  const char* started;  // what its log says then

  friend std::ostream& operator<<(std::ostream& out, const Daemon& daemon) {
    return out << daemon.name;
  }
};

std::vector<std::string> SidecarArguments(const TempDir& dir) {
  return {"--listen-socket", dir.File("s.sock"), "--data-dir",
          dir.File("data"),  "--metrics-listen", absl::StrCat("unix:", dir.File("m.sock"))};
}

std::vector<std::string> StoreArguments(const TempDir& dir) {
  return {"--listen",  absl::StrCat("unix:", dir.File("s.sock")),   "--data-dir", dir.File("data"),
          "--sidecar", absl::StrCat("unix:", dir.File("none.sock"))};
}

// There is no database, for which it waits.
std::vector<std::string> PostgresArguments(const TempDir& dir) {
  std::ofstream(dir.File("ttl.yaml"))
      << "database: host=" << dir.path() << " dbname=none\n"
      << "sidecar: unix:" << dir.File("none.sock") << "\n"
      << "listen: unix:" << dir.File("s.sock") << "\n"
      << "tables:\n  - {container: c, table: t, id: [id], ts_column: ts}\n";
  return {"--config", dir.File("ttl.yaml"), "run"};
}

const Daemon kDaemons[] = {
    {"sidecar", TTL_SIDECAR_BINARY, SidecarArguments, "msg=\"ready\""},
    {"document_store", DOCUMENT_STORE_BINARY, StoreArguments, "msg=\"ready\""},
    {"ttl_postgres", TTL_POSTGRES_BINARY, PostgresArguments, "msg=\"waiting for the database\""},
};

class DaemonsTest : public testing::TestWithParam<Daemon> {
 protected:
  // Starts it in a new directory; `before` comes before the program on its command line.
  void Start(std::vector<std::string> before = {}) {
    process_.reset();
    dir_ = std::make_unique<TempDir>();
    std::filesystem::permissions(dir_->path(), std::filesystem::perms(0777));
    before.push_back(program_);
    for (const std::string& argument : GetParam().arguments(*dir_)) before.push_back(argument);
    Launch(std::move(before));
  }

  // Starts it in the directory that is there.
  void Launch(std::vector<std::string> argv) {
    SubprocessOptions options;
    options.argv = std::move(argv);
    options.output_path = log_dir_.File("log");
    std::filesystem::remove(options.output_path);
    auto process = Subprocess::Start(options);
    ASSERT_TRUE(process.ok()) << process.status();
    process_ = *std::move(process);
  }

  std::string Log() const {
    std::ifstream file(log_dir_.File("log"));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool Logs(absl::string_view text) {
    return WaitUntil([&] { return absl::StrContains(Log(), text); }, kPatience);
  }
  // Whether it has started; false if it has ended instead.
  bool HasStarted() {
    EXPECT_TRUE(WaitUntil(
        [&] { return !process_->IsRunning() || absl::StrContains(Log(), GetParam().started); },
        kPatience))
        << Log();
    return process_->IsRunning();
  }
  void ExpectStops() {
    ASSERT_TRUE(process_->Signal(SIGTERM).ok()) << Log();
    const auto ended = process_->Wait(kPatience);
    ASSERT_TRUE(ended.ok()) << ended.status();
    EXPECT_EQ(ended->code, 0) << Log();
  }

  // A copy, for whoever is to run it.
  std::string CopyOfTheProgram() const {
    const std::string path = log_dir_.File("program");
    std::filesystem::copy_file(GetParam().binary, path);
    std::filesystem::permissions(log_dir_.path(), std::filesystem::perms(0755));
    return path;
  }

  const TempDir log_dir_;
  std::string program_ = GetParam().binary;
  std::unique_ptr<TempDir> dir_;
  std::unique_ptr<Subprocess> process_;
};

INSTANTIATE_TEST_SUITE_P(All, DaemonsTest, testing::ValuesIn(kDaemons),
                         [](const auto& info) { return std::string(info.param.name); });

// Those that listen at a socket at once.
using SocketDaemonsTest = DaemonsTest;

INSTANTIATE_TEST_SUITE_P(All, SocketDaemonsTest, testing::Values(kDaemons[0], kDaemons[1]),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(SocketDaemonsTest, AStaleSocketIsReplacedAndALiveOneIsNeverTaken) {
  Start();
  ASSERT_TRUE(HasStarted()) << Log();
  process_->Kill();
  const std::string socket = dir_->File("s.sock");
  ASSERT_TRUE(std::filesystem::exists(socket)) << "left by the kill";
  std::vector<std::string> argv = {program_};
  for (const std::string& argument : GetParam().arguments(*dir_)) argv.push_back(argument);
  Launch(argv);
  ASSERT_TRUE(HasStarted()) << Log();
  const std::unique_ptr<Subprocess> first = std::move(process_);
  struct stat before {};
  ASSERT_EQ(stat(socket.c_str(), &before), 0);

  // Another one, with only the socket in common.
  for (std::string& argument : argv) {
    argument = absl::StrReplaceAll(argument, {{dir_->File("data"), dir_->File("other")},
                                              {dir_->File("m.sock"), dir_->File("n.sock")}});
  }
  Launch(argv);
  const auto ended = process_->Wait(kPatience);
  ASSERT_TRUE(ended.ok()) << ended.status() << Log();
  EXPECT_TRUE(ended->code.has_value());
  EXPECT_NE(ended->code, 0) << Log();
  EXPECT_THAT(Log(), testing::HasSubstr(socket));
  EXPECT_TRUE(first->IsRunning());
  struct stat after {};
  ASSERT_EQ(stat(socket.c_str(), &after), 0);
  EXPECT_EQ(after.st_ino, before.st_ino);
}

TEST_P(DaemonsTest, HangupNeverStopsIt) {
  Start();
  ASSERT_TRUE(HasStarted()) << Log();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(process_->Signal(SIGHUP).ok());
  EXPECT_TRUE(Logs("SIGHUP ignored")) << Log();
  ExpectStops();
}

TEST_P(DaemonsTest, QuitEndsItWithACore) {
  Start();
  ASSERT_TRUE(HasStarted()) << Log();
  ASSERT_TRUE(process_->Signal(SIGQUIT).ok());
  const auto ended = process_->Wait(kPatience);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->signal, SIGQUIT);
}

// What to put before a program so that it may have only so many threads, its first included. For
// root there is no limit, so it becomes somebody who runs nothing else.
std::vector<std::string> WithThreads(int count) {
  std::vector<std::string> command = {"/usr/bin/prlimit", absl::StrCat("--nproc=", count), "--"};
  if (geteuid() == 0) {
    const std::string user = absl::StrCat(600000 + getpid() % 100000);
    for (const std::string& word : {std::string("/usr/bin/setpriv"), std::string("--reuid"), user,
                                    std::string("--clear-groups")}) {
      command.push_back(word);
    }
  }
  return command;
}

// Of the user that the program runs as.
int ThreadsInUse() {
  if (geteuid() == 0) return 0;
  int count = 0;
  std::error_code error;
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    struct stat info = {};
    const std::filesystem::path threads = process.path() / "task";
    if (stat(threads.c_str(), &info) != 0 || info.st_uid != geteuid()) continue;
    const std::filesystem::directory_iterator entries(threads, error);
    if (!error) count += static_cast<int>(std::distance(begin(entries), end(entries)));
  }
  return count;
}

TEST_P(DaemonsTest, TooFewThreadsAreAnErrorAndNoCrash) {
  // Others of the same user may come and go, so that a limit is no number for sure.
  const int in_use = ThreadsInUse();
  program_ = CopyOfTheProgram();
  bool has_started = false;
  for (int count = 2; !has_started; ++count) {
    ASSERT_LT(count, 100);
    Start(WithThreads(in_use + count));
    has_started = HasStarted();
    if (has_started) {
      ExpectStops();
    } else {
      const auto ended = process_->Wait(kPatience);
      ASSERT_TRUE(ended.ok()) << ended.status();
      EXPECT_EQ(ended->code, 1) << count << ": " << Log();
      EXPECT_THAT(Log(), ContainsRegex("cannot start [0-9]+ threads, only [0-9]+: .*ulimit"));
    }
    if (HasFailure()) break;
    EXPECT_TRUE(!has_started || count > 3) << "nothing is tested";
  }
}

}  // namespace
}  // namespace ttl
