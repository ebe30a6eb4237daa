#include "service/base/layered_map.h"

#include <map>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace ttl {
namespace {

using Map = LayeredMap<std::string, std::optional<int>>;

std::map<std::string, std::optional<int>> Contents(const Map& map) {
  return {map.kept().begin(), map.kept().end()};
}

TEST(LayeredMapTest, WhatIsDiscardedWasNeverThere) {
  Map map;
  map.Set("kept", 1);
  map.Keep();
  map.Set("kept", 2);
  map.Set("kept", std::nullopt);
  map.Set("new", 3);
  EXPECT_EQ(*map.Find("kept"), std::nullopt);
  EXPECT_EQ(*map.Find("new"), 3);
  map.Discard();
  EXPECT_EQ(*map.Find("kept"), 1);
  EXPECT_EQ(map.Find("new"), nullptr);
}

RC_GTEST_PROP(LayeredMapProperty, AgreesWithACopyTakenAtEachDecision, ()) {
  Map map;
  std::map<std::string, std::optional<int>> now, decided;
  for (int left = *rc::gen::inRange(0, 60); left > 0; --left) {
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
        map.Keep();
        decided = now;
        break;
      case 1:
        map.Discard();
        now = decided;
        break;
      default: {
        const auto key = *rc::gen::element<std::string>("a", "b", "c", "d");
        const auto value = *rc::gen::element<std::optional<int>>(std::nullopt, 1, 2);
        map.Set(key, value);
        now[key] = value;
      }
    }
    RC_ASSERT(Contents(map) == now);
  }
}

}  // namespace
}  // namespace ttl
