// The rules about connections, without any.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "service/transport/connections/connection_limit.h"
#include "service/transport/connections/reconnect_pace.h"
#include "service/transport/connections/unanswered_bytes.h"
#include "service/transport/connections/unanswered_calls.h"

namespace ttl {
namespace {

using testing::ElementsAre;

constexpr AddressKind kSocket = AddressKind::kUnixSocket;
constexpr AddressKind kTcp = AddressKind::kTcp;
constexpr AddressKind kHealth = AddressKind::kHealthOnly;

TEST(SharePlacesTest, EachKindHasItsShareAndSharesItEvenly) {
  EXPECT_THAT(SharePlaces(100, {kSocket}), ElementsAre(100));
  EXPECT_THAT(SharePlaces(100, {kTcp}), ElementsAre(100));
  EXPECT_THAT(SharePlaces(100, {kHealth}), ElementsAre(100));
  EXPECT_THAT(SharePlaces(100, {kSocket, kSocket}), ElementsAre(50, 50));
  EXPECT_THAT(SharePlaces(100, {kSocket, kTcp, kTcp}), ElementsAre(50, 25, 25));
  EXPECT_THAT(SharePlaces(100, {kTcp, kSocket, kSocket, kSocket}), ElementsAre(50, 16, 16, 16));
  EXPECT_THAT(SharePlaces(80, {kSocket, kHealth}), ElementsAre(70, 10));
  EXPECT_THAT(SharePlaces(80, {kSocket, kTcp, kHealth}), ElementsAre(35, 35, 10));
  EXPECT_THAT(SharePlaces(1, {kSocket, kTcp, kHealth}), ElementsAre(1, 1, 1));
}

TEST(ReconnectPaceTest, OnlyWhoWasCutOffIsSlowedDown) {
  ReconnectPace pace;
  pace.CutOff("bad", 100);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(pace.Admits("good", 100));
  for (int i = 0; i < ReconnectPace::kConnectionsPerSecond; ++i) {
    EXPECT_TRUE(pace.Admits("bad", 100)) << i;
  }
  EXPECT_FALSE(pace.Admits("bad", 100));
  EXPECT_TRUE(pace.Admits("bad", 101));
}

TEST(ReconnectPaceTest, ItIsForgottenAfterAWhileWithoutOffence) {
  ReconnectPace pace;
  pace.CutOff("bad", 100);
  pace.CutOff("bad", 140);
  const auto admits_many = [&pace](int64_t second) {
    bool admits = true;
    for (int i = 0; i < 10; ++i) admits = pace.Admits("bad", second) && admits;
    return admits;
  };
  EXPECT_FALSE(admits_many(140 + ReconnectPace::kSeconds));
  EXPECT_TRUE(admits_many(141 + ReconnectPace::kSeconds));
}

TEST(ReconnectPaceTest, ManyOffendersTakeNoMoreThanTheirRoom) {
  ReconnectPace pace;
  const auto most = static_cast<int>(ReconnectPace::kMaxHosts);
  for (int i = 0; i < most; ++i) pace.CutOff(absl::StrCat(i), 100);
  const auto is_remembered = [&pace](const std::string& client, int64_t second) {
    for (int i = 0; i < 10; ++i) {
      if (!pace.Admits(client, second)) return true;
    }
    return false;
  };
  pace.CutOff("one more", 100);
  EXPECT_FALSE(is_remembered("one more", 100));
  EXPECT_TRUE(is_remembered("0", 100));
  pace.CutOff("later", 101 + ReconnectPace::kSeconds);
  EXPECT_TRUE(is_remembered("later", 101 + ReconnectPace::kSeconds));
}

TEST(UnansweredBytesTest, CountsSinceTheLastAnswer) {
  UnansweredBytes bytes;
  EXPECT_FALSE(bytes.Exceed(100, 0, 0));
  EXPECT_FALSE(bytes.Exceed(100, 100, 0));
  EXPECT_TRUE(bytes.Exceed(100, 101, 0));
  UnansweredBytes answered;
  for (int64_t i = 0; i < 50; ++i) EXPECT_FALSE(answered.Exceed(100, 100 * i, i)) << i;
  EXPECT_TRUE(answered.Exceed(100, 100 * 50 + 1, 49));
}

TEST(UnansweredCallsTest, CountsWhatComesInASecond) {
  UnansweredCalls calls(10);
  EXPECT_FALSE(calls.Exceed(100, 100, 10));
  EXPECT_TRUE(calls.Exceed(100, 101, 10));
}

TEST(UnansweredCallsTest, WhatStaysUnansweredIsNoOffence) {
  UnansweredCalls calls(10);
  for (int64_t second = 10; second < 60; ++second) EXPECT_FALSE(calls.Exceed(100, 90, second));
}

TEST(UnansweredCallsTest, WhatCameMeanwhileIsSharedByTheSecondsSince) {
  UnansweredCalls calls(10);
  EXPECT_FALSE(calls.Exceed(100, 100, 10));
  // Between 10 and 19 there may be a hundred for each.
  EXPECT_FALSE(calls.Exceed(100, 1000, 19));
  EXPECT_FALSE(calls.Exceed(100, 1100, 19));
  EXPECT_TRUE(calls.Exceed(100, 1101, 19));
  UnansweredCalls others(10);
  EXPECT_TRUE(others.Exceed(100, 1001, 19));
}

}  // namespace
}  // namespace ttl
