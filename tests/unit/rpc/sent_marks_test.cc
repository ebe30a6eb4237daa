#include "service/rpc/status/sent_marks.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace ttl {
namespace {

TEST(SentMarksTest, ASubscriptionHasTheGreatestSequenceOfItsStreams) {
  SentMarks marks;
  EXPECT_EQ(marks.SentThrough(1, "s"), 0);
  marks.Open(1, "s");
  marks.Open(1, "s");
  marks.Open(2, "s");
  EXPECT_EQ(marks.Streams(1, "s"), 2);
  marks.Send(1, "s", 7);
  marks.Send(1, "s", 5);
  EXPECT_EQ(marks.SentThrough(1, "s"), 7);
  EXPECT_EQ(marks.SentThrough(2, "s"), 0);
  EXPECT_EQ(marks.SentThrough(1, "t"), 0);
}

TEST(SentMarksTest, WhatWasSentOutlivesTheStream) {
  SentMarks marks;
  marks.Open(1, "s");
  marks.Send(1, "s", 7);
  marks.Close(1, "s");
  EXPECT_EQ(marks.Streams(1, "s"), 0);
  EXPECT_EQ(marks.SentThrough(1, "s"), 7);
}

TEST(SentMarksTest, ADeletedSubscriptionIsForgottenByItsLastStreamsToo) {
  SentMarks marks;
  marks.Open(1, "s");
  marks.Forget(1, "s");
  marks.Send(1, "s", 7);
  marks.Close(1, "s");
  EXPECT_EQ(marks.SentThrough(1, "s"), 0);
  EXPECT_EQ(marks.Streams(1, "s"), 0);
}

TEST(SentMarksTest, SubscriptionsWithoutStreamsDoNotPileUp) {
  SentMarks marks;
  marks.Open(1, "open");
  marks.Send(1, "open", 7);
  for (int i = 0; i < 5000; ++i) {
    const std::string name = absl::StrCat(i);
    marks.Open(1, name);
    marks.Send(1, name, 9);
    marks.Close(1, name);
  }
  EXPECT_EQ(marks.SentThrough(1, "open"), 7);
  EXPECT_EQ(marks.SentThrough(1, "0"), 0);
  EXPECT_EQ(marks.SentThrough(1, "4999"), 9);
}

}  // namespace
}  // namespace ttl
