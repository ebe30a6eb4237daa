#include "service/log/json_line.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <spdlog/logger.h>

#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "service/log/log_sink.h"

namespace ttl {
namespace {

bool IsJsonObject(const std::string& text) {
  google::protobuf::Struct object;
  return google::protobuf::util::JsonStringToMessage(text, &object).ok();
}

struct MembersCase {
  const char* fields;
  const char* members;
};

constexpr MembersCase kMembers[] = {
    {"", ""},
    {"items=5", R"("items":5)"},
    {"share=-0.25 is_new=true", R"("share":-0.25,"is_new":true)"},
    {R"(container="5" new=6)", R"("container":"5","new":6)"},
    {R"(reason="no \"time\" left\n" n=1)", R"("reason":"no \"time\" left\u000a","n":1)"},
    {R"(container="k\xc3\xb6ln")", "\"container\":\"köln\""},
    {R"(key="\xff\x00z")", R"("key":"\\xff\\x00z")"},
    {R"(old=none new=5/s)", R"("old":null,"new":"5/s")"},
    {R"(old={ttl=5 brake={items=1 note="a}b"}} new={})",
     R"("old":{"ttl":5,"brake":{"items":1,"note":"a}b"}},"new":{})"},
    {"brakes={n=1} {n=2} x=3", R"("brakes":[{"n":1},{"n":2}],"x":3)"},
    {"brakes={n=1}x y={", R"("brakes":"{n=1}x","y":"{")"},
    {"reason=it is late and=more", R"("reason":"it is late","and":"more")"},
    {"mode=0700 big=1e9 point=1. minus=-", R"("mode":"0700","big":"1e9","point":"1.","minus":"-")"},
    {R"(open="abc d=1)", R"("open":"\"abc d=1")"},
    {"empty= next=1", R"("empty":"","next":1)"},
    {"n=1 n=2 n=3 level=4", R"("n":1,"n_":2,"n__":3,"level_":4)"},
    {"no key at all", R"("text":"no key at all")"},
};

TEST(JsonLineTest, MembersAreTheFields) {
  for (const MembersCase& tested : kMembers) {
    EXPECT_EQ(JsonMembers(tested.fields), tested.members) << tested.fields;
    EXPECT_TRUE(IsJsonObject(absl::StrCat("{", JsonMembers(tested.fields), "}"))) << tested.fields;
  }
}

TEST(JsonLineTest, BracesDeeperThanTheBoundAreText) {
  const std::string deep =
      absl::StrCat("a=", std::string(10000, '{'), "b=1", std::string(10000, '}'));
  EXPECT_TRUE(IsJsonObject(absl::StrCat("{", JsonMembers(deep), "}")));
}

RC_GTEST_PROP(JsonLineProperty, AnyFieldsAreValidJson, ()) {
  // What the parser looks at, more often than chance has it.
  const auto piece = rc::gen::element<std::string>("a=", " b=", "\"", "{", "}", "\\", "\\\"", " ",
                                                   "1", ".", "-", "\xc3", "\xb6", "\n", "x");
  std::string fields;
  for (const std::string& next : *rc::gen::container<std::vector<std::string>>(piece)) {
    fields += next;
  }
  RC_ASSERT(IsJsonObject(absl::StrCat("{", JsonMembers(fields), "}")));
}

RC_GTEST_PROP(JsonLineProperty, AnyBytesAreAValidString, (const std::string& bytes)) {
  RC_ASSERT(IsJsonObject(absl::StrCat("{\"a\":", JsonString(bytes), "}")));
}

TEST(JsonLineTest, LogSinkWritesWhatIsSet) {
  std::string text;
  const auto sink =
      std::make_shared<LogSink>([&](absl::string_view line) { absl::StrAppend(&text, line); });
  spdlog::logger logger("test", sink);
  sink->set_format(LogFormat::kJson);
  const spdlog::log_clock::time_point noon(std::chrono::hours(12));
  logger.log(noon, spdlog::source_loc(), spdlog::level::warn, "brake pulled: items=3 why=\"a\"");
  logger.log(noon, spdlog::source_loc(), spdlog::level::info, "no \"fields\"");
  EXPECT_EQ(text, R"({"ts":"1970-01-01T12:00:00.000Z","level":"warn","msg":"brake pulled",)"
                  R"("items":3,"why":"a"})"
                  "\n"
                  R"({"ts":"1970-01-01T12:00:00.000Z","level":"info","msg":"no \"fields\""})"
                  "\n");
}

}  // namespace
}  // namespace ttl
