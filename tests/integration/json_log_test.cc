// What the real programs log with --log-format json.

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/integration/sidecar_calls.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using google::protobuf::Struct;

// The lines of a log; the test has failed if one is no JSON object with time, level and message.
std::vector<Struct> ObjectsOf(const std::string& log) {
  std::vector<Struct> objects;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(log, '\n', absl::SkipEmpty()))) {
    Struct object;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(line, &object).ok()) << line;
    for (const char* key : {"ts", "level", "msg"}) {
      EXPECT_TRUE(object.fields().contains(key)) << key << " in " << line;
    }
    objects.push_back(std::move(object));
  }
  return objects;
}

TEST(JsonLogTest, EachLineOfTheSidecarIsAnObjectAndValuesHaveTypes) {
  const TempDir dir;
  SidecarProcessOptions options;
  options.dir = dir.path();
  options.flags = {"--log-format=json", "--log-level=trace"};
  SidecarProcess sidecar(options);
  ASSERT_TRUE(sidecar.Start().ok()) << sidecar.Log();
  SidecarCalls calls(sidecar.channel());
  ASSERT_TRUE(calls.CreateContainer("k\"öln", 3600).ok());
  ASSERT_TRUE(calls.SetDefaultTtl("k\"öln", 7200).ok());
  ASSERT_TRUE(sidecar.Stop().ok()) << sidecar.Log();

  int changes = 0;
  for (const Struct& object : ObjectsOf(sidecar.Log())) {
    if (object.fields().at("msg").string_value() != "container updated") continue;
    ++changes;
    EXPECT_EQ(object.fields().at("container").string_value(), "k\"öln");
    const auto ttl_of = [&](const char* key) {
      return object.fields().at(key).struct_value().fields().at("default_ttl").number_value();
    };
    EXPECT_EQ(ttl_of("old"), 3600);
    EXPECT_EQ(ttl_of("new"), 7200);
  }
  EXPECT_EQ(changes, 1) << sidecar.Log();
}

}  // namespace
}  // namespace ttl
