#include "service/log/log_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/logger.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ttl {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

class LogSinkTest : public testing::Test {
 protected:
  // Logs an event as if at `seconds` after noon.
  void Log(int seconds, spdlog::level::level_enum level, const std::string& text) {
    const spdlog::log_clock::time_point noon(std::chrono::hours(12));
    logger_.log(noon + std::chrono::seconds(seconds), spdlog::source_loc(), level, text);
  }

  std::vector<std::string> Lines() const { return absl::StrSplit(text_, '\n', absl::SkipEmpty()); }

  std::string text_;
  spdlog::logger logger_{"test", std::make_shared<LogSink>([this](absl::string_view line) {
                           absl::StrAppend(&text_, line);
                         })};
};

TEST_F(LogSinkTest, NameAndFieldsBecomePairs) {
  Log(1, spdlog::level::info, "container created: container=\"a: b\" new=1");
  EXPECT_THAT(Lines(), ElementsAre("ts=1970-01-01T12:00:01.000Z level=info "
                                   "msg=\"container created\" container=\"a: b\" new=1"));
}

TEST_F(LogSinkTest, TextWithoutFieldsIsTheMessage) {
  Log(0, spdlog::level::warn, "stopping: no \"time\" left");
  EXPECT_THAT(Lines(), ElementsAre("ts=1970-01-01T12:00:00.000Z level=warn "
                                   "msg=\"stopping: no \\\"time\\\" left\""));
}

TEST_F(LogSinkTest, EventIsOneLine) {
  Log(0, spdlog::level::info, "a\nb");
  Log(0, spdlog::level::info, "c: d=e\nlevel=error");
  EXPECT_THAT(Lines(), ElementsAre(EndsWith("msg=\"a\\nb\""), EndsWith("d=e\\nlevel=error")));
}

TEST_F(LogSinkTest, FloodIsCutAndCounted) {
  for (int i = 0; i < 1000; ++i) Log(0, spdlog::level::info, absl::StrCat("flood: i=", i));
  EXPECT_THAT(Lines(), SizeIs(LogSink::kBurst));
  Log(10, spdlog::level::info, "flood: i=1000");
  ASSERT_THAT(Lines(), SizeIs(LogSink::kBurst + 1));
  EXPECT_THAT(Lines().back(), EndsWith(absl::StrCat("i=1000 suppressed=", 1000 - LogSink::kBurst)));
}

TEST_F(LogSinkTest, FloodEndsWhenTheClockIsSetBack) {
  for (int i = 0; i < 1000; ++i) Log(0, spdlog::level::info, "flood");
  Log(-3600, spdlog::level::info, "flood");
  EXPECT_THAT(Lines(), SizeIs(LogSink::kBurst + 1));
}

TEST_F(LogSinkTest, TraceIsWrittenInFull) {
  logger_.set_level(spdlog::level::trace);
  for (int i = 0; i < 1000; ++i) Log(0, spdlog::level::trace, "delete: item=a");
  EXPECT_THAT(Lines(), SizeIs(1000));
}

TEST_F(LogSinkTest, FloodOfOneEventLeavesOthersAlone) {
  for (int i = 0; i < 1000; ++i) Log(0, spdlog::level::info, "flood");
  Log(0, spdlog::level::err, "flood");
  Log(0, spdlog::level::info, "another");
  ASSERT_THAT(Lines(), SizeIs(LogSink::kBurst + 2));
  EXPECT_THAT(Lines().back(), HasSubstr("another"));
}

}  // namespace
}  // namespace ttl
