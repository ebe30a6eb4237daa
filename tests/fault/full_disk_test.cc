// The real sidecar on a volume that is really full.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/channel.h"
#include "tests/testing/expect_soon.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/small_volume.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/client.h"
#include "ttl/container_client.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMib = int64_t{1} << 20;

class FullDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    auto volume = SmallVolume::Mount(64);
    ASSERT_TRUE(volume.ok()) << volume.status();
    volume_ = *std::move(volume);
    SidecarProcessOptions options;
    options.dir = volume_->path();
    options.flags = {"--report-floor-mib", "16", "--outcome-floor-mib", "8"};
    sidecar_ = std::make_unique<SidecarProcess>(options);
    const absl::Status started = sidecar_->Start();
    ASSERT_TRUE(started.ok()) << started;
    Connect();
    v1::Container container;
    container.set_id("orders");
    container.set_default_ttl(3600);
    ASSERT_TRUE(client_->containers().Create(container).ok());
  }

  void Connect() {
    TtlClientOptions client_options;
    client_options.address = sidecar_->address();
    // So that it is the sidecar that refuses, and not a machine that stalls.
    client_options.check_deadline = client_options.report_deadline = absl::Minutes(1);
    client_ = std::make_unique<TtlClient>(client_options);
  }

  // Whether it does so after a while.
  bool AnswersChecks() {
    v1::VisibilityCheck check;
    check.set_id("item0");
    return WaitUntil([&] { return client_->CheckItem("orders", check).ok(); }, absl::Seconds(60));
  }

  absl::Status Track(const std::string& id) {
    v1::Item item;
    item.set_id(id);
    item.set_ts(absl::ToUnixSeconds(absl::Now()));
    return client_->TrackItem("orders", item).status();
  }

  v1::Visibility Check(const std::string& id) {
    v1::VisibilityCheck check;
    check.set_id(id);
    const auto answer = client_->CheckItem("orders", check);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? answer->visibility : v1::VISIBILITY_UNSPECIFIED;
  }

  // Reports new items until one is refused, and returns why.
  absl::Status TrackUntilRefused() {
    absl::Status refusal;
    EXPECT_TRUE(WaitUntil(
        [&] {
          refusal = Track(absl::StrCat("item", tracked_));
          if (refusal.ok()) ++tracked_;
          return !refusal.ok();
        },
        absl::Seconds(60)));
    return refusal;
  }

  bool TracksAgain() {
    return WaitUntil([&] { return Track("again").ok(); }, absl::Seconds(60));
  }

  void ExpectAllAcknowledged() {
    for (int i = 0; i < tracked_; i += 1 + tracked_ / 50) {
      EXPECT_EQ(Check(absl::StrCat("item", i)), v1::VISIBILITY_VISIBLE) << i;
    }
  }

  std::unique_ptr<SmallVolume> volume_;
  std::unique_ptr<SidecarProcess> sidecar_;
  std::unique_ptr<TtlClient> client_;
  int tracked_ = 0;
};

TEST_F(FullDiskTest, ChecksGoOnWritesAreRefusedAndItRecoversByItself) {
  const struct {
    std::string name;
    int64_t free_bytes;
  } levels[] = {
      {"below the floor of reports", 12 * kMib},
      {"below the floor of changes", 4 * kMib},
      {"not a byte", 0},
  };
  for (const auto& level : levels) {
    SCOPED_TRACE(level.name);
    ASSERT_TRUE(Track(absl::StrCat("item", tracked_)).ok());
    ++tracked_;
    ASSERT_TRUE(volume_->Fill(level.free_bytes).ok());
    const absl::Status refusal = TrackUntilRefused();
    EXPECT_THAT(std::string(refusal.message()),
                testing::AnyOf(HasSubstr("bytes free"), HasSubstr("No space left"),
                               HasSubstr("refuses writes"), HasSubstr("could not be reopened")))
        << refusal;
    ExpectAllAcknowledged();
    volume_->Empty();
    EXPECT_TRUE(TracksAgain());
    EXPECT_EQ(sidecar_->WaitReady(), absl::OkStatus());
    ExpectAllAcknowledged();
  }
}

TEST_F(FullDiskTest, StartedOnAFullVolumeItAnswersChecksAndRecoversByItself) {
  for (; tracked_ < 200; ++tracked_) ASSERT_TRUE(Track(absl::StrCat("item", tracked_)).ok());
  ASSERT_TRUE(volume_->Fill(0).ok());
  EXPECT_FALSE(TrackUntilRefused().ok());
  sidecar_->Kill();
  ASSERT_TRUE(sidecar_->Launch().ok());
  ASSERT_TRUE(AnswersChecks()) << sidecar_->Log();
  ExpectAllAcknowledged();
  EXPECT_FALSE(Track("refused").ok());
  EXPECT_FALSE(CheckHealth(sidecar_->channel(), "readiness").ok());
  volume_->Empty();
  EXPECT_TRUE(TracksAgain());
  EXPECT_EQ(sidecar_->WaitReady(), absl::OkStatus());
  ExpectAllAcknowledged();
}

// Nothing is deleted meanwhile, and checks go by the policies that are stored.
TEST_F(FullDiskTest, WhatAStartIsToChangeItChangesWhenTheVolumeTakesWrites) {
  for (; tracked_ < 200; ++tracked_) ASSERT_TRUE(Track(absl::StrCat("item", tracked_)).ok());
  const TempDir dir;
  const std::string containers = dir.File("containers.yaml");
  std::ofstream(containers) << "containers:\n  - {id: orders, default_ttl: 7200}\n";
  ASSERT_TRUE(volume_->Fill(0).ok());
  EXPECT_FALSE(TrackUntilRefused().ok());
  sidecar_->Kill();
  SidecarProcessOptions options;
  options.dir = volume_->path();
  options.flags = {"--report-floor-mib", "16",       "--outcome-floor-mib", "8",
                   "--containers",       containers, "--start-paused"};
  sidecar_ = std::make_unique<SidecarProcess>(options);
  Connect();
  ASSERT_TRUE(sidecar_->Launch().ok());
  ASSERT_TRUE(AnswersChecks()) << sidecar_->Log();
  ExpectAllAcknowledged();
  EXPECT_EQ(client_->containers().Get("orders")->default_ttl(), 3600);
  EXPECT_FALSE(CheckHealth(sidecar_->channel(), "readiness").ok());
  volume_->Empty();
  EXPECT_EQ(sidecar_->WaitReady(), absl::OkStatus());
  EXPECT_EQ(client_->containers().Get("orders")->default_ttl(), 7200);
  EXPECT_SOON(sidecar_->Log(), HasSubstr("msg=\"deletes paused\" container=all"));
  ExpectAllAcknowledged();
}

TEST_F(FullDiskTest, StartedOnAReadOnlyVolumeItAnswersChecksAndRecoversByItself) {
  // Socket and log are elsewhere.
  ASSERT_TRUE(sidecar_->Stop().ok());
  const TempDir dir;
  std::filesystem::create_directory_symlink(sidecar_->data_dir(), dir.File("sidecar.data"));
  SidecarProcessOptions options;
  options.dir = dir.path();
  options.flags = {"--report-floor-mib", "16", "--outcome-floor-mib", "8"};
  sidecar_ = std::make_unique<SidecarProcess>(options);
  ASSERT_EQ(sidecar_->Start(), absl::OkStatus());
  Connect();
  for (; tracked_ < 200; ++tracked_) ASSERT_TRUE(Track(absl::StrCat("item", tracked_)).ok());
  sidecar_->Kill();
  ASSERT_EQ(volume_->SetReadOnly(true), absl::OkStatus());
  ASSERT_TRUE(sidecar_->Launch().ok());
  ASSERT_TRUE(AnswersChecks()) << sidecar_->Log();
  ExpectAllAcknowledged();
  EXPECT_FALSE(Track("refused").ok());
  EXPECT_FALSE(CheckHealth(sidecar_->channel(), "readiness").ok());
  ASSERT_EQ(volume_->SetReadOnly(false), absl::OkStatus());
  EXPECT_TRUE(TracksAgain());
  EXPECT_EQ(sidecar_->WaitReady(), absl::OkStatus());
  ExpectAllAcknowledged();
  sidecar_.reset();  // before its directory
}

TEST_F(FullDiskTest, KilledWhileFullItStartsAgainOnceThereIsSpace) {
  for (; tracked_ < 200; ++tracked_) ASSERT_TRUE(Track(absl::StrCat("item", tracked_)).ok());
  ASSERT_TRUE(volume_->Fill(0).ok());
  EXPECT_FALSE(TrackUntilRefused().ok());
  sidecar_->Kill();
  volume_->Empty();
  const absl::Status started = sidecar_->Start();
  ASSERT_TRUE(started.ok()) << started;
  ExpectAllAcknowledged();
  EXPECT_TRUE(TracksAgain());
}

}  // namespace
}  // namespace ttl
