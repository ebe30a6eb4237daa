#include "service/transport/access/trace_parent.h"

#include <gtest/gtest.h>

#include <string>

namespace ttl {
namespace {

constexpr char kId[] = "4bf92f3577b34da6a3ce929d0e0e4736";

TEST(TraceParentTest, AValidValueGivesItsTraceId) {
  for (const std::string value : {
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff",
           // Of a later version, which may say more after another dash.
           "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "fe-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
       }) {
    EXPECT_EQ(TraceIdOf(value), kId) << value;
  }
}

TEST(TraceParentTest, AnythingElseGivesNone) {
  for (const std::string value : {
           "",
           "00",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
           "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
           "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
           "00-4bf92f3577b34da6a3ce929d0e0e473--00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
           "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
           " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
       }) {
    EXPECT_EQ(TraceIdOf(value), "") << value;
  }
}

}  // namespace
}  // namespace ttl
