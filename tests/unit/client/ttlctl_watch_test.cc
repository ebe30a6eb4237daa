#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

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
};

class WatchTest : public testing::Test {
 protected:
  // Watches a command that does these steps, the last of which must end the watch.
  ExitCode WatchSteps(std::deque<Step> steps, bool at_terminal = false,
                      OutputFormat format = OutputFormat::kTable) {
    GlobalOptions options;
    options.format = format;
    Session session(options, {in_, out_, err_, at_terminal, at_terminal, at_terminal});
    const ExitCode code = Watch(session, absl::Milliseconds(1), [&steps](Session& inner) {
      const Step step = steps.front();
      steps.pop_front();
      inner.terminal().out << step.out;
      inner.terminal().err << step.err;
      return step.code;
    });
    EXPECT_TRUE(steps.empty()) << steps.size() << " steps were left";
    return code;
  }

  std::istringstream in_;
  std::ostringstream out_;
  std::ostringstream err_;
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
              HasSubstr("--watch: \"orders\" must be seconds, or a duration such as"));
  EXPECT_EQ(Ttlctl({"status", "--watch", "--server", "127.0.0.1:1"}).code, ExitCode::kUnreachable)
      << "the interval may be missing";
}

}  // namespace
}  // namespace ttl
