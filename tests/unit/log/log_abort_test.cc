// What the log still says when the process ends without a return from main().

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>
#include <unistd.h>

#include "service/log/log.h"

namespace ttl {
namespace {

class LogDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LogDeathTest, LinesBeforeAnAbortAreWritten) {
  EXPECT_EXIT(
      {
        const Log log(spdlog::level::info);
        for (int i = 0; i < 15; ++i) spdlog::error("reason: number={}", i);
        abort();
      },
      testing::KilledBySignal(SIGABRT), "msg=\"reason\" number=14");
}

TEST_F(LogDeathTest, LinesBeforeAnExitAreWrittenAfterADrain) {
  EXPECT_EXIT(
      {
        const Log log(spdlog::level::info);
        spdlog::error("reason: number=1");
        Log::Drain();
        _exit(7);
      },
      testing::ExitedWithCode(7), "msg=\"reason\" number=1");
}

TEST_F(LogDeathTest, ProtobufLogsByTheSameFormatAndLimit) {
  EXPECT_EXIT(
      {
        {
          const Log log(spdlog::level::info);
          for (int i = 0; i < 1000; ++i) GOOGLE_LOG(ERROR) << "bad\ninput " << i;
        }
        _exit(7);
      },
      testing::ExitedWithCode(7), "level=warn msg=\"protobuf\" detail=\"bad.*input 19\"\n$");
}

TEST_F(LogDeathTest, StandardErrorThatIsClosedBecomesNoOtherFile) {
  EXPECT_EXIT(
      {
        close(STDERR_FILENO);
        const Log log(spdlog::level::info);
        const int next = dup(STDIN_FILENO);
        _exit(next > STDERR_FILENO ? 7 : 8);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace ttl
