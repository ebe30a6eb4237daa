#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/ttlctl/commands/watch.h"
#include "client/ttlctl/ttlctl.h"
#include "nlohmann/json.hpp"
#include "tests/testing/fake_sidecar.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// What one call of a watched command does.
struct Step {
  ExitCode code;
  std::string out;
  std::string err;
  absl::Status failure = absl::OkStatus();  // if not OK, Fail() prints it and gives the code
};

class WatchTest : public testing::Test {
 protected:
  // Watches a command that does these steps, the last of which must end the watch.
  ExitCode WatchSteps(std::deque<Step> steps, bool at_terminal = false,
                      OutputFormat format = OutputFormat::kTable) {
    GlobalOptions options;
    options.format = format;
    Session session(options, {in_, out_, err_, at_terminal, at_terminal, at_terminal,
                              [this] { return rows_; }});
    const ExitCode code = Watch(session, absl::Milliseconds(1), [&steps](Session& inner) {
      const Step step = steps.front();
      steps.pop_front();
      inner.terminal().out << step.out;
      inner.terminal().err << step.err;
      return step.failure.ok() ? step.code : inner.Fail(step.failure);
    });
    EXPECT_TRUE(steps.empty()) << steps.size() << " steps were left";
    return code;
  }

  std::istringstream in_;
  std::ostringstream out_;
  std::ostringstream err_;
  int rows_ = 0;
};

TEST_F(WatchTest, AFailureAtOnceIsTheEnd) {
  EXPECT_EQ(WatchSteps({{ExitCode::kUnreachable, "", "away\n"}}), ExitCode::kUnreachable);
  EXPECT_EQ(err_.str(), "away\n");
}

TEST_F(WatchTest, ASidecarThatIsAwayForAWhileIsAwaited) {
  EXPECT_EQ(WatchSteps({{ExitCode::kOk, "one\n", ""},
                        {ExitCode::kUnreachable, "", "away\n"},
                        {ExitCode::kUnreachable, "", "away\n"},
                        {ExitCode::kOk, "two\n", ""},
                        {ExitCode::kNotFound, "", "gone\n"}}),
            ExitCode::kNotFound);
  EXPECT_EQ(out_.str(), "one\n\ntwo\n");
  EXPECT_EQ(err_.str(), "away\naway\ngone\n");
}

TEST_F(WatchTest, ASidecarWithTooManyCallsIsAwaitedAfterASuccess) {
  const absl::Status too_many = absl::ResourceExhaustedError("too many calls");
  EXPECT_EQ(WatchSteps({{ExitCode::kOk, "", "", too_many}}), ExitCode::kRefused);
  EXPECT_EQ(WatchSteps({{ExitCode::kOk, "one\n", ""},
                        {ExitCode::kOk, "", "", too_many},
                        {ExitCode::kOk, "two\n", ""},
                        {ExitCode::kOk, "", "", absl::PermissionDeniedError("no")}}),
            ExitCode::kRefused);
  EXPECT_EQ(out_.str(), "one\n\ntwo\n");
}

TEST_F(WatchTest, WhatATerminalHasNoRowsForIsCounted) {
  const auto drawn = [this](int rows) {
    out_.str("");
    rows_ = rows;
    WatchSteps({{ExitCode::kRefused, "one\ntwo\nthree\n", ""}}, /*at_terminal=*/true);
    return out_.str();
  };
  for (const int rows : {0, 6}) {  // the first two lines are "Every" and an empty one
    EXPECT_THAT(drawn(rows), AllOf(HasSubstr("three"), Not(HasSubstr("more lines")))) << rows;
  }
  EXPECT_THAT(drawn(5), AllOf(HasSubstr("\033[K\none\033[K\n... 2 more lines\033[K\n\033[J")));
  EXPECT_THAT(drawn(1), HasSubstr("\033[H... 5 more lines\033[K\n\033[J"));
}

TEST_F(WatchTest, DocumentsFollowEachOtherWithNothingBetween) {
  WatchSteps(
      {{ExitCode::kOk, "{}\n", ""}, {ExitCode::kOk, "{}\n", ""}, {ExitCode::kRefused, "", ""}},
      /*at_terminal=*/true, OutputFormat::kJson);
  EXPECT_EQ(out_.str(), "{}\n{}\n");
}

TEST_F(WatchTest, ATerminalIsRedrawnAndKeepsTheLastStateWhileTheSidecarIsAway) {
  WatchSteps({{ExitCode::kOk, "one\n", ""},
              {ExitCode::kUnreachable, "", "away\n"},
              {ExitCode::kRefused, "", "no\n"}},
             /*at_terminal=*/true);
  const std::string drawn = out_.str();
  const size_t second = drawn.find("\033[H", drawn.find("\033[H") + 1);
  ASSERT_NE(second, std::string::npos);
  EXPECT_THAT(drawn.substr(0, second), AllOf(StartsWith("\033[2J\033[HEvery 0s, at "),
                                             HasSubstr("one\033[K\n"), Not(HasSubstr("away"))));
  EXPECT_THAT(drawn.substr(second), AllOf(HasSubstr("one\033[K\naway\033[K\n\033[J")));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(WatchTest, OutputThatIsLostIsTheEnd) {
  out_.setstate(std::ios::badbit);
  EXPECT_EQ(WatchSteps({{ExitCode::kOk, "one\n", ""}}), ExitCode::kOk);
}

// The command line

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

Outcome Ttlctl(const std::vector<std::string>& arguments) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const ExitCode code = RunTtlctl(arguments, {in, out, err});
  return {code, out.str(), err.str()};
}

TEST(WatchOptionTest, ACommandIsRunAgain) {
  FakeSidecar sidecar;
  v1::GetExpiryStatusResponse status;
  status.mutable_container()->set_container("c");
  sidecar.Answer("GetExpiryStatus", status);
  sidecar.Answer("GetExpiryStatus", status);
  sidecar.Fail("GetExpiryStatus", {grpc::StatusCode::NOT_FOUND, "no container \"c\""});
  const Outcome outcome =
      Ttlctl({"--server", sidecar.address(), "status", "c", "--watch=1", "-o", "json"});
  EXPECT_EQ(outcome.code, ExitCode::kNotFound);
  std::istringstream lines(outcome.out);
  int documents = 0;
  for (std::string line; std::getline(lines, line); ++documents) {
    EXPECT_EQ(nlohmann::json::parse(line)["container"]["container"], "c");
  }
  EXPECT_EQ(documents, 2);
}

TEST(WatchOptionTest, EveryCommandThatShowsStateHasIt) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"status"},
                                             {"stuck"},
                                             {"forecast"},
                                             {"containers", "get"},
                                             {"containers", "list"},
                                             {"items", "list"},
                                             {"items", "explain"},
                                             {"limits", "show"},
                                             {"clock", "show"}}) {
    std::vector<std::string> help = command;
    help.emplace_back("--help");
    EXPECT_THAT(Ttlctl(help).out, HasSubstr("--watch")) << command.back();
  }
  EXPECT_EQ(Ttlctl({"verify", "--watch"}).code, ExitCode::kUsage);
}

TEST(WatchOptionTest, AnIntervalThatIsWrongIsNamed) {
  for (const char* interval : {"0", "-1", "1d1s", "2w"}) {
    const Outcome outcome = Ttlctl({"status", absl::StrCat("--watch=", interval)});
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << interval;
    EXPECT_THAT(outcome.err,
                HasSubstr(absl::StrCat("--watch: \"", interval, "\" must be from 1s to 1d")));
  }
  EXPECT_THAT(Ttlctl({"status", "--watch", "orders"}).err,
              AllOf(HasSubstr("--watch: \"orders\" must be seconds, or a duration such as"),
                    HasSubstr("; put CONTAINER before --watch, or write --watch=2")));
  EXPECT_THAT(Ttlctl({"limits", "show", "--watch=soon"}).err, Not(HasSubstr("; put")));
  EXPECT_EQ(Ttlctl({"status", "--watch", "--server", "127.0.0.1:1"}).code, ExitCode::kUnreachable)
      << "the interval may be missing";
}

}  // namespace
}  // namespace ttl
