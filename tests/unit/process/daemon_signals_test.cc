#include "service/process/daemon_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "service/log/log.h"
#include "tests/testing/log_ends.h"

namespace ttl {
namespace {

using Request = DaemonSignals::Request;

class DaemonSignalsDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(DaemonSignalsDeathTest, StopThatTakesTooLongEndsTheProcess) {
  EXPECT_EXIT(
      {
        const Log log(spdlog::level::info);
        DaemonSignals signals(absl::Seconds(1));
        kill(getpid(), SIGTERM);
        signals.Next();
        while (true) pause();
      },
      testing::ExitedWithCode(1), "not stopped within the deadline, exiting\" deadline_seconds=1");
}

TEST_F(DaemonSignalsDeathTest, SecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        const Log log(spdlog::level::info);
        DaemonSignals signals(absl::Hours(1));
        kill(getpid(), SIGTERM);
        signals.Next();
        kill(getpid(), SIGINT);
        while (true) pause();
      },
      testing::ExitedWithCode(1), "second signal while stopping, exiting\" signal=INT");
}

TEST_F(DaemonSignalsDeathTest, DeadlineCountsThoughNobodyReadsTheLog) {
  EXPECT_EXIT(
      {
        LogEnds unread(LogEnds::Kind::kPipe);
        dup2(unread.write_end(), STDERR_FILENO);
        unread.Fill();
        const Log log(spdlog::level::info);
        DaemonSignals signals(absl::Seconds(1));
        kill(getpid(), SIGTERM);
        signals.Next();
        while (true) pause();
      },
      testing::ExitedWithCode(1), "");
}

TEST_F(DaemonSignalsDeathTest, StopInTimeEndsTheWatch) {
  EXPECT_EXIT(
      {
        {
          DaemonSignals signals(absl::Seconds(60));
          kill(getpid(), SIGINT);
          signals.Next();
        }
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(DaemonSignalsDeathTest, WatchEndsWithoutASignalToo) {
  EXPECT_EXIT(
      {
        { DaemonSignals signals(absl::Seconds(60)); }
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(DaemonSignalsDeathTest, HangupRequestsAReloadAsOftenAsItComes) {
  EXPECT_EXIT(
      {
        DaemonSignals signals(absl::Seconds(60));
        for (int i = 0; i < 3; ++i) {
          kill(getpid(), SIGHUP);
          if (signals.Next() != Request::kReload) _exit(1);
        }
        if (signals.Next(absl::Milliseconds(50)).has_value()) _exit(2);
        kill(getpid(), SIGTERM);
        if (signals.Next() != Request::kStop) _exit(3);
        // While it stops, too, it is nothing that ends the process.
        kill(getpid(), SIGHUP);
        if (signals.Next(absl::Milliseconds(50)) != Request::kStop) _exit(4);
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ttl
