// --watch as a user has it: with a sidecar that restarts, and until an interrupt.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/fake_sidecar.h"
#include "tests/testing/process.h"
#include "tests/testing/pseudo_terminal.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {
namespace {

constexpr absl::Duration kDeadline = absl::Seconds(60);

class WatchProcessTest : public testing::Test {
 protected:
  void StartSidecar(const std::string& container) {
    sidecar_ = std::make_unique<FakeSidecar>(directory_.File("ttl.sock"));
    v1::ListExpiryStatusesResponse statuses;
    statuses.add_containers()->set_container(container);
    // More than are asked for while the test waits.
    for (int i = 0; i < 1000; ++i) sidecar_->Answer("ListExpiryStatuses", statuses);
  }

  void StartWatch(const std::string& output_path) {
    SubprocessOptions options;
    options.argv = {TTLCTL_BINARY, "--server", absl::StrCat("unix:", directory_.File("ttl.sock")),
                    "status", "--watch=1"};
    options.output_path = output_path;
    auto process = Subprocess::Start(options);
    ASSERT_TRUE(process.ok()) << process.status();
    watch_ = *std::move(process);
  }

  std::string Output() const {
    std::ifstream file(directory_.File("output"));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void ExpectEndByInterrupt() {
    ASSERT_TRUE(watch_->Signal(SIGINT).ok());
    const auto ended = watch_->Wait(kDeadline);
    ASSERT_TRUE(ended.ok()) << ended.status();
    EXPECT_EQ(ended->signal, SIGINT) << "a shell says 130";
  }

  TempDir directory_;
  std::unique_ptr<FakeSidecar> sidecar_;
  std::unique_ptr<Subprocess> watch_;
};

TEST_F(WatchProcessTest, GoesOnWhenTheSidecarIsBack) {
  StartSidecar("before");
  StartWatch(directory_.File("output"));
  ASSERT_TRUE(WaitUntil([&] { return absl::StrContains(Output(), "before"); }, kDeadline));
  sidecar_.reset();
  ASSERT_TRUE(
      WaitUntil([&] { return absl::StrContains(Output(), "is the sidecar running"); }, kDeadline))
      << Output();
  StartSidecar("after");
  EXPECT_TRUE(WaitUntil([&] { return absl::StrContains(Output(), "after"); }, kDeadline))
      << Output();
  ExpectEndByInterrupt();
}

TEST_F(WatchProcessTest, RedrawsATerminal) {
  const PseudoTerminal terminal(80);
  StartSidecar("orders");
  StartWatch(terminal.path());
  ASSERT_TRUE(WaitUntil(
      [&] {
        const std::string output = terminal.Output();
        return absl::StrContains(output.substr(output.find("orders") + 1), "\033[HEvery 1s");
      },
      kDeadline))
      << terminal.Output();
  ExpectEndByInterrupt();
}

}  // namespace
}  // namespace ttl
