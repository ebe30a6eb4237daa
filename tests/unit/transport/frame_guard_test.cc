#include "service/transport/connections/frame_guard.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ttl {
namespace {

using Verdict = FrameGuard::Verdict;

constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr FrameLimits kLimits = {.header_block_bytes = 100,
                                 .unacknowledged_calls = 3,
                                 .resets_per_second = 2,
                                 .pings_per_minute = 4,
                                 .idle_frames_per_second = 3,
                                 .small_data_frames_per_second = 5};
constexpr size_t kFrameHeaderBytes = 9;

enum Type : char {
  kData = 0,
  kHeaders = 1,
  kReset = 3,
  kSettings = 4,
  kPing = 6,
  kGoaway = 7,
  kWindow = 8,
  kMore = 9,
  kUnknown = 85,
};

std::string Frame(Type type, size_t payload, char flags = 0) {
  std::string frame(3, '\0');
  frame[1] = static_cast<char>(payload >> 8);
  frame[2] = static_cast<char>(payload);
  // The payload looks like frames that would break every limit.
  return absl::StrCat(frame, std::string({type, flags}), std::string(4, '\1'),
                      std::string(payload, '\1'));
}

const std::string kAck = Frame(kSettings, 0, 1);

std::string Repeat(int times, const std::string& part) {
  std::string all;
  for (int i = 0; i < times; ++i) all += part;
  return all;
}

// The verdict on what a client sends within one second.
Verdict On(const std::string& bytes) {
  FrameGuard guard(kLimits);
  return guard.Take(absl::StrCat(kPreface, bytes), 7);
}

TEST(FrameGuardTest, EveryLimitIsExact) {
  const struct {
    const char* name;
    std::string sent;
    Verdict verdict;
  } cases[] = {
      {"nothing", "", Verdict::kKeeps},
      {"a header block as large as it may be", Frame(kHeaders, 91), Verdict::kKeeps},
      {"a larger one", Frame(kHeaders, 92), Verdict::kHeaderBlockTooLarge},
      {"one in parts", Frame(kHeaders, 40) + Frame(kMore, 42), Verdict::kKeeps},
      {"a larger one in parts", Frame(kHeaders, 40) + Frame(kMore, 43),
       Verdict::kHeaderBlockTooLarge},
      {"one of empty parts", Frame(kHeaders, 0) + Repeat(11, Frame(kMore, 0)),
       Verdict::kHeaderBlockTooLarge},
      {"a header block of each call", Repeat(3, Frame(kHeaders, 91)), Verdict::kKeeps},
      {"large messages", Repeat(9, Frame(kData, 16384)), Verdict::kKeeps},
      {"calls before the settings are acknowledged", Repeat(3, Frame(kHeaders, 5)),
       Verdict::kKeeps},
      {"more of them", Repeat(4, Frame(kHeaders, 5)), Verdict::kSettingsNotAcknowledged},
      {"settings that acknowledge nothing", Frame(kSettings, 6) + Repeat(4, Frame(kHeaders, 5)),
       Verdict::kSettingsNotAcknowledged},
      {"an acknowledged ping", Frame(kPing, 8, 1) + Repeat(4, Frame(kHeaders, 5)),
       Verdict::kSettingsNotAcknowledged},
      {"calls after they are acknowledged", kAck + Repeat(99, Frame(kHeaders, 5)), Verdict::kKeeps},
      {"calls taken back", Repeat(2, Frame(kReset, 4)), Verdict::kKeeps},
      {"more of them", Repeat(3, Frame(kReset, 4)), Verdict::kTooManyResets},
      {"pings", Repeat(4, Frame(kPing, 8)), Verdict::kKeeps},
      {"more of them", Repeat(5, Frame(kPing, 8)), Verdict::kTooManyPings},
      {"answers to pings", Repeat(3, Frame(kPing, 8, 1)), Verdict::kKeeps},
      {"more of them", Repeat(4, Frame(kPing, 8, 1)), Verdict::kTooManyIdleFrames},
      {"settings", Repeat(4, Frame(kSettings, 6)), Verdict::kTooManyIdleFrames},
      {"windows", Repeat(4, Frame(kWindow, 4)), Verdict::kTooManyIdleFrames},
      {"data without any", Repeat(4, Frame(kData, 0)), Verdict::kTooManyIdleFrames},
      {"farewells", Repeat(4, Frame(kGoaway, 8)), Verdict::kTooManyIdleFrames},
      {"frames of no kind", Repeat(4, Frame(kUnknown, 60)), Verdict::kTooManyIdleFrames},
      {"windows beside a call", Frame(kHeaders, 5) + Repeat(11, Frame(kWindow, 4)),
       Verdict::kKeeps},
      {"more of them", Frame(kHeaders, 5) + Repeat(12, Frame(kWindow, 4)),
       Verdict::kTooManyIdleFrames},
      {"windows beside a message", Frame(kData, 5) + Repeat(5, Frame(kWindow, 4)), Verdict::kKeeps},
      {"more of them", Frame(kData, 5) + Repeat(6, Frame(kWindow, 4)), Verdict::kTooManyIdleFrames},
      // The first five allow two more each.
      {"little data", Repeat(15, Frame(kData, 1)), Verdict::kKeeps},
      {"more of it", Repeat(16, Frame(kData, 1)), Verdict::kTooManyIdleFrames},
  };
  for (const auto& c : cases) EXPECT_EQ(On(c.sent), c.verdict) << c.name;
}

TEST(FrameGuardTest, CallsMayBeTakenBackAgainInTheNextSecond) {
  FrameGuard guard(kLimits);
  guard.Take(kPreface, 0);
  for (int64_t second = 5; second < 10; ++second) {
    EXPECT_EQ(guard.Take(Repeat(2, Frame(kReset, 4)), second), Verdict::kKeeps);
  }
  EXPECT_EQ(guard.Take(Frame(kReset, 4), 9), Verdict::kTooManyResets);
}

TEST(FrameGuardTest, PingsMayBeSentAgainInTheNextMinute) {
  FrameGuard guard(kLimits);
  guard.Take(kPreface, 0);
  for (const int64_t second : {0, 30, 58, 59, 60, 119, 119, 119}) {
    EXPECT_EQ(guard.Take(Frame(kPing, 8), second), Verdict::kKeeps) << second;
  }
  EXPECT_EQ(guard.Take(Frame(kPing, 8), 119), Verdict::kTooManyPings);
}

TEST(FrameGuardTest, WhoReadsMuchMaySaySo) {
  FrameGuard guard(kLimits);
  guard.Take(kPreface, 0);
  guard.NoteAnswered(10);
  guard.NoteAnswered(6 + 16);
  EXPECT_EQ(guard.Take(Repeat(5, Frame(kWindow, 4)), 7), Verdict::kKeeps);
  EXPECT_EQ(guard.Take(Frame(kWindow, 4), 7), Verdict::kTooManyIdleFrames);
}

TEST(FrameGuardTest, IdleFramesMayBeSentAgainInTheNextSecond) {
  FrameGuard guard(kLimits);
  guard.Take(kPreface, 0);
  for (int64_t second = 5; second < 10; ++second) {
    EXPECT_EQ(guard.Take(Repeat(3, Frame(kWindow, 4)), second), Verdict::kKeeps);
  }
}

TEST(FrameGuardTest, WhatIsNotHttp2IsNotJudged) {
  const std::string broken = Repeat(9, Frame(kReset, 4));
  FrameGuard none;
  EXPECT_EQ(none.Take(kPreface + broken, 0), Verdict::kKeeps);
  FrameGuard other(kLimits);
  EXPECT_EQ(other.Take("PRI * HTTP/1.1\r\n\r\n", 0), Verdict::kKeeps);
  EXPECT_EQ(other.Take(kPreface + broken, 0), Verdict::kKeeps);
  EXPECT_EQ(On(broken), Verdict::kTooManyResets);
}

TEST(FrameGuardTest, LimitsFollowTheNumberOfCallsAtATime) {
  EXPECT_EQ(FrameLimits::ForCalls(1024).unacknowledged_calls, 1024);
  EXPECT_EQ(FrameLimits::ForCalls(1024).resets_per_second, 2048);
  EXPECT_EQ(FrameLimits::ForCalls(1).resets_per_second, 100);
  // As deploy/sizing.md says.
  EXPECT_EQ(FrameLimits::ForCalls(1).header_block_bytes, 32 << 10);
  EXPECT_EQ(FrameLimits::ForCalls(1).pings_per_minute, 600);
  EXPECT_EQ(FrameLimits::ForCalls(1).idle_frames_per_second, 100);
  EXPECT_EQ(FrameLimits::ForCalls(1).small_data_frames_per_second, 20000);
}

// The rules again, on frames that are whole.
struct Model {
  int64_t header_block = 0, calls = 0, resets = 0, pings = 0, idle = 0, small = 0, allowed = 0;
  bool acknowledged = false;

  Verdict TakeIdle(int64_t& count, int64_t most) {
    return ++count <= most || --allowed >= 0 ? Verdict::kKeeps : Verdict::kTooManyIdleFrames;
  }

  Verdict TakeData(int64_t payload, bool flag) {
    if (payload == 0 && !flag) return TakeIdle(idle, kLimits.idle_frames_per_second);
    const bool is_free = small < kLimits.small_data_frames_per_second;
    const Verdict verdict = TakeIdle(small, kLimits.small_data_frames_per_second);
    if (is_free) allowed += 2;
    return verdict;
  }

  Verdict Take(Type type, int64_t payload, bool flag) {
    const int64_t bytes = payload + static_cast<int64_t>(kFrameHeaderBytes);
    if (type == kSettings) acknowledged = acknowledged || flag;
    if (type == kPing && !flag && ++pings > kLimits.pings_per_minute) return Verdict::kTooManyPings;
    if (type == kReset && ++resets > kLimits.resets_per_second) return Verdict::kTooManyResets;
    if (type == kHeaders && !acknowledged && ++calls > kLimits.unacknowledged_calls) {
      return Verdict::kSettingsNotAcknowledged;
    }
    if (type == kData) return TakeData(payload, flag);
    if (type == kSettings || type == kWindow || (type == kPing && flag)) {
      return TakeIdle(idle, kLimits.idle_frames_per_second);
    }
    if (type == kHeaders) header_block = 0;
    if (type == kHeaders) allowed += 8;
    if (type != kHeaders && type != kMore) return Verdict::kKeeps;
    header_block += bytes;
    return header_block > kLimits.header_block_bytes ? Verdict::kHeaderBlockTooLarge
                                                     : Verdict::kKeeps;
  }
};

RC_GTEST_PROP(FrameGuardProperty, AnyFramesInAnyPiecesAreJudgedByTheRules, ()) {
  std::string sent = kPreface;
  Model model;
  Verdict expected = Verdict::kKeeps;
  for (int i = 0; i < 20 && expected == Verdict::kKeeps; ++i) {
    const Type type = *rc::gen::element(kData, kHeaders, kReset, kSettings, kPing, kMore, kWindow);
    const auto payload = *rc::gen::inRange(0, 60);
    const bool flag = *rc::gen::arbitrary<bool>();
    sent += Frame(type, static_cast<size_t>(payload), flag ? 1 : 0);
    expected = model.Take(type, payload, flag);
  }
  FrameGuard guard(kLimits);
  Verdict verdict = Verdict::kKeeps;
  absl::string_view left = sent;
  while (!left.empty() && verdict == Verdict::kKeeps) {
    const absl::string_view piece = left.substr(0, *rc::gen::inRange<size_t>(1, 40));
    verdict = guard.Take(piece, 7);
    left.remove_prefix(piece.size());
  }
  RC_ASSERT(verdict == expected);
}

}  // namespace
}  // namespace ttl
