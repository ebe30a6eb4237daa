#include "service/server/stop_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "service/server/log.h"

namespace ttl {
namespace {

TEST(StopSignalsDeathTest, StopThatTakesTooLongEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        StartLogging(spdlog::level::info);
        StopSignals signals(absl::Seconds(1));
        kill(getpid(), SIGTERM);
        signals.Wait();
        while (true) pause();
      },
      testing::ExitedWithCode(1), "not stopped within the deadline, exiting\" deadline_seconds=1");
}

TEST(StopSignalsDeathTest, SecondSignalEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        StartLogging(spdlog::level::info);
        StopSignals signals(absl::Hours(1));
        kill(getpid(), SIGTERM);
        signals.Wait();
        kill(getpid(), SIGINT);
        while (true) pause();
      },
      testing::ExitedWithCode(1), "second signal while stopping, exiting\" signal=INT");
}

TEST(StopSignalsDeathTest, StopInTimeEndsTheWatch) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        {
          StopSignals signals(absl::Seconds(60));
          kill(getpid(), SIGINT);
          signals.Wait();
        }
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(StopSignalsDeathTest, WatchEndsWithoutASignalToo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        { StopSignals signals(absl::Seconds(60)); }
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ttl
