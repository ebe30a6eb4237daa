// What the containers file does to a sidecar, over restarts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/expect_soon.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Seconds(30);

class ContainersFileProcessTest : public testing::Test {
 protected:
  ContainersFileProcessTest() {
    SidecarProcessOptions options;
    options.dir = dir_.path();
    // A change right after a start waits this long for deletes of the run before.
    options.flags = {"--containers", file_, "--delete-deadline-seconds", "1"};
    sidecar_ = std::make_unique<SidecarProcess>(options);
    calls_.emplace(sidecar_->channel());
  }

  void Write(const std::string& text) { std::ofstream(file_) << text; }

  // Starts, or starts again, with what the file holds now.
  void Restart() {
    if (sidecar_->IsRunning()) {
      const absl::Status stopped = sidecar_->Stop();
      ASSERT_TRUE(stopped.ok()) << stopped;
    }
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
  }

  // Whether it logs that soon.
  bool Logs(absl::string_view text) {
    return WaitUntil([&] { return absl::StrContains(sidecar_->Log(), text); }, kPatience);
  }

  std::optional<int64_t> DefaultTtl(const std::string& id) {
    const auto container = calls_->GetContainer(id);
    EXPECT_TRUE(container.ok()) << container.status();
    if (!container.ok() || !container->has_default_ttl()) return std::nullopt;
    return container->default_ttl();
  }

  const TempDir dir_;
  const std::string file_ = dir_.File("containers.yaml");
  std::unique_ptr<SidecarProcess> sidecar_;
  std::optional<SidecarCalls> calls_;
};

TEST_F(ContainersFileProcessTest, EntryIsAppliedOnceUntilItChanges) {
  Write("containers:\n  - {id: a/b, default_ttl: 60}\n");
  Restart();
  EXPECT_EQ(DefaultTtl("a/b"), 60);

  ASSERT_TRUE(calls_->SetDefaultTtl("a/b", 120).ok());
  Restart();
  EXPECT_EQ(DefaultTtl("a/b"), 120) << "the entry is the same, so the call stands";

  Write("# the same, written otherwise\ncontainers:\n- default_ttl: 60\n  id: 'a/b'\n");
  Restart();
  EXPECT_EQ(DefaultTtl("a/b"), 120);

  Write("containers:\n  - {id: a/b, default_ttl: 90}\n");
  Restart();
  EXPECT_EQ(DefaultTtl("a/b"), 90);
}

TEST_F(ContainersFileProcessTest, ChangedEntrySetsEveryField) {
  Write(
      "containers:\n  - id: c\n    default_ttl: 60\n    indexing_mode: LAZY\n"
      "    delete_policy: {max_deletes_per_second: 5, delay_seconds: 7}\n");
  Restart();
  const auto before = calls_->GetContainer("c");
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_EQ(before->indexing_mode(), v1::INDEXING_MODE_LAZY);
  EXPECT_EQ(before->delete_policy().max_deletes_per_second(), 5);
  EXPECT_EQ(before->delete_policy().delay().seconds(), 7);

  Write("containers:\n  - id: c\n");
  Restart();
  const auto after = calls_->GetContainer("c");
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_FALSE(after->has_default_ttl());
  EXPECT_EQ(after->indexing_mode(), v1::INDEXING_MODE_CONSISTENT);
  EXPECT_FALSE(after->delete_policy().has_max_deletes_per_second());
  EXPECT_EQ(after->delete_policy().delay().seconds(), 0);
}

TEST_F(ContainersFileProcessTest, ContainersNotInTheFileAreLeftAlone) {
  Write("containers:\n  - {id: a, default_ttl: 60}\n");
  Restart();
  ASSERT_TRUE(calls_->CreateContainer("other", 5).ok());
  Write("containers: []\n");
  Restart();
  EXPECT_EQ(DefaultTtl("a"), 60);
  EXPECT_EQ(DefaultTtl("other"), 5);
}

TEST_F(ContainersFileProcessTest, ContainerThatExistsIsBroughtUpToTheFile) {
  Write("containers:\n");
  Restart();
  ASSERT_TRUE(calls_->CreateContainer("a", 5).ok());
  Write("containers:\n  - {id: a, default_ttl: 60}\n");
  Restart();
  EXPECT_EQ(DefaultTtl("a"), 60);
}

TEST_F(ContainersFileProcessTest, PauseIsNeverLifted) {
  Write("containers:\n  - {id: a, default_ttl: 60}\n");
  Restart();
  ASSERT_TRUE(calls_->Pause("a", "audit").ok());
  for (const char* text : {"containers:\n  - {id: a, default_ttl: 60}\n",
                           "containers:\n  - {id: a, default_ttl: -1}\n", "containers:\n"}) {
    Write(text);
    Restart();
    const auto status = calls_->GetStatus("a");
    ASSERT_TRUE(status.ok()) << status.status();
    EXPECT_EQ(status->container().pause().reason(), "audit") << text;
  }
}

TEST_F(ContainersFileProcessTest, BadFileEndsTheStartAndChangesNothing) {
  Write("containers:\n  - {id: good, default_ttl: 60}\n  - {id: bad, default_ttl: 60s}\n");
  ASSERT_TRUE(sidecar_->Launch().ok());
  const auto ended = sidecar_->process()->Wait(absl::Seconds(30));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->code, 2);
  EXPECT_SOON(sidecar_->Log(), HasSubstr("containers.yaml:3: container \\\"bad\\\": default_ttl"));

  Write("containers:\n");
  Restart();
  EXPECT_EQ(calls_->GetContainer("good").status().code(), absl::StatusCode::kNotFound);
}

// Each of the three states of default_ttl reads back exactly, by file and by call,
// and after "unset" nothing is hidden.
TEST_F(ContainersFileProcessTest, ThreeStatesGoRoundByFileAndByCall) {
  const std::vector<std::optional<int64_t>> kCycle = {std::nullopt, 60, -1, std::nullopt, 60};
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  for (const bool by_file : {true, false}) {
    const std::string id = by_file ? "by-file" : "by-call";
    Write(absl::StrCat("containers:\n  - {id: ", id, "}\n"));
    Restart();
    ASSERT_TRUE(calls_->Track(id, "inherits", now - 1000).ok());
    ASSERT_TRUE(calls_->Track(id, "own", now - 1000, 10).ok());
    for (const std::optional<int64_t>& state : kCycle) {
      SCOPED_TRACE(absl::StrCat(id, " ", state.has_value() ? absl::StrCat(*state) : "unset"));
      if (by_file) {
        const std::string value = state.has_value() ? absl::StrCat(*state) : "off";
        Write(absl::StrCat("containers:\n  - {id: ", id, ", default_ttl: ", value, "}\n"));
      } else {
        const absl::Status set = calls_->SetDefaultTtl(id, state);
        ASSERT_TRUE(set.ok()) << set;
      }
      Restart();
      EXPECT_EQ(DefaultTtl(id), state);
      EXPECT_EQ(calls_->Check(id, "inherits").value(),
                state == 60 ? v1::VISIBILITY_EXPIRED : v1::VISIBILITY_VISIBLE);
      EXPECT_EQ(calls_->Check(id, "own").value(),
                state.has_value() ? v1::VISIBILITY_EXPIRED : v1::VISIBILITY_VISIBLE);
    }
  }
}

TEST_F(ContainersFileProcessTest, HangupAppliesTheFileAgain) {
  Write("containers:\n  - {id: a, default_ttl: 60}\n");
  Restart();
  ASSERT_TRUE(calls_->SetDefaultTtl("a", 120).ok());
  Write("containers:\n  - {id: a, default_ttl: 60}\n  - {id: b, default_ttl: 5}\n");
  ASSERT_TRUE(sidecar_->process()->Signal(SIGHUP).ok());
  ASSERT_TRUE(Logs("containers file reloaded")) << sidecar_->Log();
  EXPECT_EQ(DefaultTtl("a"), 120) << "the entry is the same, so the call stands";
  EXPECT_EQ(DefaultTtl("b"), 5);

  Write("containers:\n  - {id: a, default_ttl: 61}\n");
  ASSERT_TRUE(sidecar_->process()->Signal(SIGHUP).ok());
  EXPECT_TRUE(WaitUntil([&] { return DefaultTtl("a") == 61; }, kPatience));
  EXPECT_EQ(DefaultTtl("b"), 5) << "what is not in the file is left alone";
}

TEST_F(ContainersFileProcessTest, FileWithAnErrorIsNotAppliedInPartsByAHangup) {
  Write("containers:\n  - {id: a, default_ttl: 60}\n");
  Restart();
  Write("containers:\n  - {id: a, default_ttl: 61}\n  - {id: b, default_ttl: 5m}\n");
  ASSERT_TRUE(sidecar_->process()->Signal(SIGHUP).ok());
  ASSERT_TRUE(Logs("containers file not reloaded")) << sidecar_->Log();
  EXPECT_SOON(sidecar_->Log(), HasSubstr("5m"));
  EXPECT_EQ(DefaultTtl("a"), 60);
  EXPECT_FALSE(calls_->GetContainer("b").ok());

  std::filesystem::remove(file_);
  ASSERT_TRUE(sidecar_->process()->Signal(SIGHUP).ok());
  EXPECT_TRUE(Logs("No such file")) << sidecar_->Log();
  Write("containers:\n  - {id: a, default_ttl: 62}\n");
  ASSERT_TRUE(sidecar_->process()->Signal(SIGHUP).ok());
  EXPECT_TRUE(WaitUntil([&] { return DefaultTtl("a") == 62; }, kPatience));
}

}  // namespace
}  // namespace ttl
