#include "client/cpp/policy_mirror.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "tests/testing/rpc_proto.h"
#include "tests/unit/core/generators.h"

namespace ttl {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

using Message = v1::WatchContainersResponse;

constexpr int64_t kT = 1'800'000'000;
// The steady clock when the sidecar's shows kT.
constexpr nanoseconds kStart = hours(5);

constexpr ItemTimes kInherits{kT, std::nullopt};

Message At(v1::WatchEvent event, absl::Time server_time, const std::string& rest = "") {
  auto message = Proto<Message>("clock_state: CLOCK_STATE_SOUND " + rest);
  message.set_event(event);
  const int64_t whole = absl::ToUnixSeconds(server_time);
  message.mutable_server_time()->set_seconds(whole);
  message.mutable_server_time()->set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(server_time - absl::FromUnixSeconds(whole))));
  return message;
}

// A message that leaves the sidecar when the steady clock shows `steady`, by clocks of
// the same rate.
Message SentAt(nanoseconds steady, v1::WatchEvent event, const std::string& rest = "") {
  return At(event, absl::FromUnixSeconds(kT) + absl::FromChrono(steady - kStart), rest);
}

class PolicyMirrorTest : public testing::Test {
 protected:
  explicit PolicyMirrorTest(WhenUnsure when_unsure = WhenUnsure::kAsk)
      : mirror_(absl::Seconds(3), when_unsure) {}

  void Apply(v1::WatchEvent event, const std::string& rest = "", nanoseconds steady = kStart) {
    mirror_.Apply(SentAt(steady, event, rest), steady);
  }
  void Snapshot(const std::string& rest) { Apply(v1::WATCH_EVENT_SNAPSHOT_END, rest); }
  void Change(const std::string& rest) { Apply(v1::WATCH_EVENT_CHANGE, rest); }
  void Heartbeat(nanoseconds steady) { Apply(v1::WATCH_EVENT_HEARTBEAT, "", steady); }

  LocalVerdict Judge(const ItemTimes& item, nanoseconds steady, const std::string& id = "c") {
    return mirror_.Judge(mirror_.Find(id), item, mirror_.At(steady));
  }
  // Of an item whose ttl has passed at kStart and is its own.
  LocalVerdict JudgeExpired(const std::string& id = "c", nanoseconds steady = kStart) {
    return Judge({kT - 60, 60}, steady, id);
  }

  PolicyMirror mirror_;
};

TEST_F(PolicyMirrorTest, OfAContainerNeverHeardOfNothingIsKnown) {
  EXPECT_EQ(JudgeExpired(), LocalVerdict::kUnknown);
  Snapshot("containers { id: 'other' default_ttl: 60 }");
  EXPECT_EQ(JudgeExpired(), LocalVerdict::kUnknown);
}

TEST_F(PolicyMirrorTest, AnItemExpiresAtItsSecondAndNotBefore) {
  Snapshot("containers { id: 'c' default_ttl: 2 }");
  EXPECT_EQ(Judge(kInherits, kStart + seconds(2) - nanoseconds(1)), LocalVerdict::kVisible);
  EXPECT_EQ(Judge(kInherits, kStart + seconds(2)), LocalVerdict::kExpired);
}

TEST_F(PolicyMirrorTest, FractionsOfTheSidecarsSecondCount) {
  mirror_.Apply(At(v1::WATCH_EVENT_SNAPSHOT_END, absl::FromUnixNanos(kT * 1'000'000'000 + 1),
                   "containers { id: 'c' default_ttl: 2 }"),
                kStart);
  EXPECT_EQ(Judge(kInherits, kStart + seconds(2) - nanoseconds(2)), LocalVerdict::kVisible);
  EXPECT_EQ(Judge(kInherits, kStart + seconds(2) - nanoseconds(1)), LocalVerdict::kExpired);
}

TEST_F(PolicyMirrorTest, AMessageThatTookLongMakesNowLateAndNeverEarly) {
  mirror_.Apply(
      SentAt(kStart, v1::WATCH_EVENT_SNAPSHOT_END, "containers { id: 'c' default_ttl: 2 }"),
      kStart + milliseconds(500));
  EXPECT_EQ(Judge(kInherits, kStart + milliseconds(2499)), LocalVerdict::kVisible);
  EXPECT_EQ(Judge(kInherits, kStart + milliseconds(2500)), LocalVerdict::kExpired);
}

TEST_F(PolicyMirrorTest, TheLatestMessageSaysWhatTimeItIs) {
  Snapshot("containers { id: 'c' default_ttl: 2 }");
  // The sidecar's clock was set back by a second.
  mirror_.Apply(At(v1::WATCH_EVENT_HEARTBEAT, absl::FromUnixSeconds(kT)), kStart + seconds(1));
  EXPECT_EQ(Judge(kInherits, kStart + seconds(2)), LocalVerdict::kVisible);
  EXPECT_EQ(Judge(kInherits, kStart + seconds(3)), LocalVerdict::kExpired);
}

TEST_F(PolicyMirrorTest, AChangeOfPolicyCountsAtOnce) {
  Snapshot("containers { id: 'c' default_ttl: 60 } containers { id: 'd' default_ttl: 60 }");
  EXPECT_EQ(JudgeExpired(), LocalVerdict::kExpired);
  Change("containers { id: 'c' }");
  EXPECT_EQ(JudgeExpired(), LocalVerdict::kVisible);
  Change("containers { id: 'c' default_ttl: -1 }");
  EXPECT_EQ(JudgeExpired(), LocalVerdict::kExpired);
  EXPECT_EQ(Judge({kT - 1'000'000, std::nullopt}, kStart), LocalVerdict::kVisible);
  EXPECT_EQ(JudgeExpired("d"), LocalVerdict::kExpired);
}

TEST_F(PolicyMirrorTest, WhatMayBeHeldAndShownIsUnknownOnceItIsExpired) {
  for (const char* default_ttl : {"", "default_ttl: 60", "default_ttl: -1"}) {
    Snapshot(absl::StrCat("containers { id: 'c' ", default_ttl, " show_held: true }"));
    const bool expires = *default_ttl != '\0';
    EXPECT_EQ(JudgeExpired(), expires ? LocalVerdict::kUnknown : LocalVerdict::kVisible);
    EXPECT_EQ(Judge({kT, 1000}, kStart), LocalVerdict::kVisible) << default_ttl;
  }
  Change("containers { id: 'c' default_ttl: 60 }");
  EXPECT_EQ(JudgeExpired(), LocalVerdict::kExpired);
  Change("containers { id: 'c' default_ttl: 60 show_held: true }");
  EXPECT_EQ(JudgeExpired(), LocalVerdict::kUnknown);
}

TEST_F(PolicyMirrorTest, WhatMayHaveBeenTouchedIsUnknownOnceItIsExpired) {
  for (const char* touches :
       {"allow_touch: true", "has_touches: true", "allow_touch: true has_touches: true"}) {
    Snapshot(absl::StrCat("containers { id: 'c' default_ttl: 60 ", touches, " }"));
    EXPECT_EQ(JudgeExpired(), LocalVerdict::kUnknown) << touches;
    EXPECT_EQ(Judge({kT, 1000}, kStart), LocalVerdict::kVisible) << touches;
    Snapshot(absl::StrCat("containers { id: 'c' ", touches, " }"));
    EXPECT_EQ(JudgeExpired(), LocalVerdict::kVisible) << "TTL is off; " << touches;
  }
  Change("containers { id: 'c' default_ttl: 60 }");
  EXPECT_EQ(JudgeExpired(), LocalVerdict::kExpired);
  Change("containers { id: 'c' default_ttl: 60 allow_touch: true }");
  EXPECT_EQ(JudgeExpired(), LocalVerdict::kUnknown);
}

TEST_F(PolicyMirrorTest, ANewContainerIsKnownFromItsChangeOn) {
  const PolicyMirror::Container& asked_before = mirror_.Find("new");
  Snapshot("");
  Change("containers { id: 'new' default_ttl: 60 }");
  EXPECT_EQ(mirror_.Judge(asked_before, {kT - 60, 60}, mirror_.At(kStart)), LocalVerdict::kExpired);
}

TEST_F(PolicyMirrorTest, ADeletedContainerIsUnknownUntilItIsCreatedAgain) {
  const PolicyMirror::Container& held = mirror_.Find("c");
  const auto judge = [&] { return mirror_.Judge(held, {kT - 60, 60}, mirror_.At(kStart)); };
  Snapshot("containers { id: 'c' default_ttl: 60 }");
  Change("deleted_containers: 'c'");
  EXPECT_EQ(judge(), LocalVerdict::kUnknown);
  Change("containers { id: 'c' }");
  EXPECT_EQ(judge(), LocalVerdict::kVisible);
  Change("deleted_containers: 'c' containers { id: 'c' default_ttl: 60 }");
  EXPECT_EQ(judge(), LocalVerdict::kExpired);
}

TEST_F(PolicyMirrorTest, ASnapshotCountsWhenItIsComplete) {
  Snapshot("containers { id: 'a' default_ttl: 60 } containers { id: 'gone' default_ttl: 60 }");
  const PolicyMirror::Container& gone = mirror_.Find("gone");
  Apply(v1::WATCH_EVENT_SNAPSHOT_PART, "containers { id: 'a' }");
  EXPECT_EQ(JudgeExpired("a"), LocalVerdict::kExpired);
  Apply(v1::WATCH_EVENT_SNAPSHOT_PART, "containers { id: 'b' default_ttl: 60 }");
  EXPECT_EQ(JudgeExpired("b"), LocalVerdict::kUnknown);
  Snapshot("containers { id: 'd' default_ttl: 60 }");
  EXPECT_EQ(JudgeExpired("a"), LocalVerdict::kVisible);
  EXPECT_EQ(JudgeExpired("b"), LocalVerdict::kExpired);
  EXPECT_EQ(JudgeExpired("d"), LocalVerdict::kExpired);
  EXPECT_EQ(mirror_.Judge(gone, {kT - 60, 60}, mirror_.At(kStart)), LocalVerdict::kUnknown);
}

TEST_F(PolicyMirrorTest, PartsOfASnapshotThatWasCutOffAreDropped) {
  Apply(v1::WATCH_EVENT_SNAPSHOT_PART, "containers { id: 'c' default_ttl: 60 }");
  mirror_.Disconnect();
  Snapshot("containers { id: 'd' default_ttl: 60 }");
  EXPECT_EQ(JudgeExpired("c"), LocalVerdict::kUnknown);
  EXPECT_EQ(JudgeExpired("d"), LocalVerdict::kExpired);
}

TEST_F(PolicyMirrorTest, ASnapshotIsAsOldAsItsFirstPart) {
  Apply(v1::WATCH_EVENT_SNAPSHOT_PART, "containers { id: 'c' default_ttl: 60 }");
  Apply(v1::WATCH_EVENT_SNAPSHOT_END, "", kStart + seconds(2));
  EXPECT_TRUE(mirror_.At(kStart + seconds(3) - nanoseconds(1)).is_sure);
  EXPECT_FALSE(mirror_.At(kStart + seconds(3)).is_sure);
  Heartbeat(kStart + seconds(3));
  EXPECT_TRUE(mirror_.At(kStart + seconds(3)).is_sure);
}

TEST_F(PolicyMirrorTest, WithoutACompleteSnapshotOfItsStreamNoMessageIsReliedOn) {
  Apply(v1::WATCH_EVENT_CHANGE, "containers { id: 'c' default_ttl: 60 }");
  Heartbeat(kStart);
  EXPECT_FALSE(mirror_.At(kStart).is_sure);
  Snapshot("containers { id: 'c' default_ttl: 60 }");
  mirror_.Disconnect();
  EXPECT_TRUE(mirror_.At(kStart).is_sure);
  Heartbeat(kStart + seconds(2));
  EXPECT_FALSE(mirror_.At(kStart + seconds(3)).is_sure);
  Apply(v1::WATCH_EVENT_SNAPSHOT_PART, "", kStart + seconds(3));
  Heartbeat(kStart + seconds(3));
  EXPECT_FALSE(mirror_.At(kStart + seconds(3)).is_sure);
}

TEST_F(PolicyMirrorTest, MessagesThatAreNotAsTheApiSaysChangeNothing) {
  Snapshot("containers { id: 'c' default_ttl: 60 }");
  Message broken = SentAt(kStart + seconds(2), v1::WATCH_EVENT_CHANGE, "deleted_containers: 'c'");
  for (const int64_t time : {int64_t{-1}, int64_t{7'258'118'400}, INT64_MAX, INT64_MIN}) {
    broken.mutable_server_time()->set_seconds(time);
    mirror_.Apply(broken, kStart + seconds(2));
  }
  broken.clear_server_time();
  mirror_.Apply(broken, kStart + seconds(2));
  Apply(v1::WATCH_EVENT_UNSPECIFIED, "deleted_containers: 'c'", kStart + seconds(2));
  Apply(static_cast<v1::WatchEvent>(99), "deleted_containers: 'c'", kStart + seconds(2));
  EXPECT_EQ(JudgeExpired(), LocalVerdict::kExpired);
  EXPECT_FALSE(mirror_.At(kStart + seconds(3)).is_sure);
}

TEST_F(PolicyMirrorTest, AnUnreadableDefaultTtlHidesNothing) {
  for (const char* ttl : {"0", "-2", "2147483648", "-9223372036854775808"}) {
    Snapshot(absl::StrCat("containers { id: 'c' default_ttl: ", ttl, " }"));
    EXPECT_EQ(JudgeExpired(), LocalVerdict::kVisible) << ttl;
  }
}

TEST_F(PolicyMirrorTest, ImpossibleItemsAreVisible) {
  Snapshot("containers { id: 'c' default_ttl: 60 }");
  for (const ItemTimes& item :
       {ItemTimes{0, 60}, ItemTimes{-5, 60}, ItemTimes{kT - 60, 0}, ItemTimes{kT - 60, -2},
        ItemTimes{kT - 60, kMaxTtl + 1}, ItemTimes{kT * 1000, 60}}) {
    EXPECT_EQ(Judge(item, kStart), LocalVerdict::kVisible) << item.ts;
  }
}

TEST_F(PolicyMirrorTest, KeepsALimitedNumberOfContainers) {
  Message many = SentAt(kStart, v1::WATCH_EVENT_SNAPSHOT_END);
  for (size_t i = 0; i < PolicyMirror::kMaxContainers + 10; ++i) {
    auto& container = *many.add_containers();
    container.set_id(absl::StrCat(i));
    container.set_default_ttl(60);
  }
  mirror_.Apply(many, kStart);
  EXPECT_EQ(JudgeExpired("0"), LocalVerdict::kExpired);
  EXPECT_EQ(JudgeExpired(absl::StrCat(PolicyMirror::kMaxContainers)), LocalVerdict::kUnknown);
  Change("containers { id: 'one more' default_ttl: 60 }");
  EXPECT_EQ(JudgeExpired("one more"), LocalVerdict::kUnknown);
  // Room that deleted containers leave is used, as far as nobody holds them.
  Change("deleted_containers: '1' containers { id: 'one more' default_ttl: 60 }");
  EXPECT_EQ(JudgeExpired("one more"), LocalVerdict::kExpired);
}

TEST_F(PolicyMirrorTest, IsSureForTheLongestStaleness) {
  Snapshot("containers { id: 'c' default_ttl: 60 }");
  EXPECT_TRUE(mirror_.At(kStart + seconds(3) - nanoseconds(1)).is_sure);
  EXPECT_FALSE(mirror_.At(kStart + seconds(3)).is_sure);
  Heartbeat(kStart + seconds(1));
  EXPECT_TRUE(mirror_.At(kStart + seconds(4) - nanoseconds(1)).is_sure);
  EXPECT_FALSE(mirror_.At(kStart + seconds(4)).is_sure);
}

TEST(PolicyMirrorStalenessTest, EndlessIsADay) {
  PolicyMirror mirror(absl::InfiniteDuration(), WhenUnsure::kAsk);
  mirror.Apply(SentAt(kStart, v1::WATCH_EVENT_SNAPSHOT_END), kStart);
  EXPECT_TRUE(mirror.At(kStart + hours(24) - nanoseconds(1)).is_sure);
  EXPECT_FALSE(mirror.At(kStart + hours(24)).is_sure);
}

// What is answered of an expired item, a live one, and one of a container that is not
// there, while nothing can be relied on.
struct Unsure {
  WhenUnsure when_unsure;
  LocalVerdict expired;
  LocalVerdict live;
};

class PolicyMirrorUnsureTest : public PolicyMirrorTest, public testing::WithParamInterface<Unsure> {
 protected:
  PolicyMirrorUnsureTest() : PolicyMirrorTest(GetParam().when_unsure) {
    Snapshot("containers { id: 'c' default_ttl: 60 }");
  }

  void ExpectUnsureAt(nanoseconds steady) {
    EXPECT_EQ(JudgeExpired("c", steady), GetParam().expired);
    EXPECT_EQ(Judge({kT, 1000}, steady), GetParam().live);
    EXPECT_EQ(JudgeExpired("not there", steady), LocalVerdict::kUnknown);
  }
  void ExpectSureAt(nanoseconds steady) {
    EXPECT_EQ(JudgeExpired("c", steady), LocalVerdict::kExpired);
    EXPECT_EQ(Judge({kT, 1000}, steady), LocalVerdict::kVisible);
  }
};

TEST_P(PolicyMirrorUnsureTest, WhenTheSidecarIsSilentForTooLong) {
  ExpectSureAt(kStart + seconds(3) - nanoseconds(1));
  ExpectUnsureAt(kStart + seconds(3));
  Heartbeat(kStart + seconds(3));
  ExpectSureAt(kStart + seconds(3));
}

TEST_P(PolicyMirrorUnsureTest, WhenTheStreamIsLostAndUntilTheNextSnapshot) {
  mirror_.Disconnect();
  ExpectSureAt(kStart + seconds(3) - nanoseconds(1));
  ExpectUnsureAt(kStart + seconds(3));
  Apply(v1::WATCH_EVENT_SNAPSHOT_PART, "containers { id: 'c' default_ttl: 60 }",
        kStart + seconds(4));
  ExpectUnsureAt(kStart + seconds(4));
  Apply(v1::WATCH_EVENT_SNAPSHOT_END, "", kStart + seconds(5));
  ExpectSureAt(kStart + seconds(5));
}

TEST_P(PolicyMirrorUnsureTest, WhileTheSidecarsClockIsNotSound) {
  for (const auto state : {v1::CLOCK_STATE_SUSPECT, v1::CLOCK_STATE_UNSPECIFIED}) {
    Message suspect = SentAt(kStart, v1::WATCH_EVENT_HEARTBEAT);
    suspect.set_clock_state(state);
    mirror_.Apply(suspect, kStart);
    ExpectUnsureAt(kStart);
    Heartbeat(kStart);
    ExpectSureAt(kStart);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Choices, PolicyMirrorUnsureTest,
    testing::Values(Unsure{WhenUnsure::kAsk, LocalVerdict::kUnknown, LocalVerdict::kUnknown},
                    Unsure{WhenUnsure::kShow, LocalVerdict::kVisible, LocalVerdict::kVisible},
                    Unsure{WhenUnsure::kGoOn, LocalVerdict::kExpired, LocalVerdict::kVisible}));

TEST(PolicyMirrorGoOnTest, TimeGoesOnWhileTheSidecarIsAway) {
  PolicyMirror mirror(absl::Seconds(3), WhenUnsure::kGoOn);
  mirror.Apply(
      SentAt(kStart, v1::WATCH_EVENT_SNAPSHOT_END, "containers { id: 'c' default_ttl: 60 }"),
      kStart);
  const PolicyMirror::Container& container = mirror.Find("c");
  EXPECT_EQ(mirror.Judge(container, kInherits, mirror.At(kStart + seconds(60) - nanoseconds(1))),
            LocalVerdict::kVisible);
  EXPECT_EQ(mirror.Judge(container, kInherits, mirror.At(kStart + seconds(60))),
            LocalVerdict::kExpired);
}

// What the rules say of an item as the store has just read it.
LocalVerdict ByTheRules(std::optional<int64_t> default_ttl, const ItemTimes& item, absl::Time now) {
  if (!IsPossible(item, now)) return LocalVerdict::kVisible;
  return IsExpiredAt(ExpireTime(default_ttl, item), now) ? LocalVerdict::kExpired
                                                         : LocalVerdict::kVisible;
}

// That of a container where a hold or a touch may keep an expired item visible.
LocalVerdict IfItMayBeShown(LocalVerdict verdict) {
  return verdict == LocalVerdict::kExpired ? LocalVerdict::kUnknown : verdict;
}

RC_GTEST_PROP(PolicyMirrorProperty, AgreesWithTheRules, ()) {
  const auto default_ttl = *generators::MaybeTtl(generators::LegalTtl());
  const ItemTimes item = *generators::Item(generators::AnyTtl());
  const int64_t near = ExpireTime(default_ttl, item).value_or(item.ts);
  // Later, a Timestamp or the sidecar's clock ends.
  const absl::Time now = *generators::InstantNear(std::clamp<int64_t>(near, 4, 7'000'000'000));
  const nanoseconds sent_before(*rc::gen::inRange<int64_t>(0, 2'000'000'000));

  PolicyMirror mirror(absl::Seconds(3), WhenUnsure::kAsk);
  Message snapshot = At(v1::WATCH_EVENT_SNAPSHOT_END, now - absl::FromChrono(sent_before));
  snapshot.add_containers()->set_id("c");
  if (default_ttl.has_value()) snapshot.mutable_containers(0)->set_default_ttl(*default_ttl);
  RC_PRE(snapshot.server_time().seconds() >= 0);
  *snapshot.add_containers() = snapshot.containers(0);
  snapshot.mutable_containers(1)->set_id("shows held");
  snapshot.mutable_containers(1)->set_show_held(true);
  *snapshot.add_containers() = snapshot.containers(0);
  snapshot.mutable_containers(2)->set_id("touched");
  snapshot.mutable_containers(2)->set_has_touches(true);
  mirror.Apply(snapshot, kStart - sent_before);

  const LocalVerdict verdict = ByTheRules(default_ttl, item, now);
  RC_ASSERT(mirror.Judge(mirror.Find("c"), item, mirror.At(kStart)) == verdict);
  for (const char* id : {"shows held", "touched"}) {
    RC_ASSERT(mirror.Judge(mirror.Find(id), item, mirror.At(kStart)) == IfItMayBeShown(verdict));
  }
}

// A container whose default_ttl is changed together with show_held, while another comes and goes: a
// judge never sees one change without the other.
TEST(PolicyMirrorThreadsTest, APolicyChangesAsAWhole) {
  PolicyMirror mirror(absl::Hours(1), WhenUnsure::kAsk);
  const PolicyMirror::Container& container = mirror.Find("c");
  std::atomic<bool> stop = false;
  std::atomic<int64_t> hidden = 0;
  std::thread judge([&] {
    while (!stop) {
      const LocalVerdict verdict =
          mirror.Judge(container, {kT - 60, std::nullopt}, mirror.At(kStart));
      if (verdict == LocalVerdict::kExpired) ++hidden;
    }
  });
  for (int round = 0; round < 20'000; ++round) {
    mirror.Apply(SentAt(kStart, v1::WATCH_EVENT_SNAPSHOT_END,
                        round % 2 == 0 ? "containers { id: 'c' default_ttl: 60 show_held: true }"
                                       : "containers { id: 'c' default_ttl: -1 }"),
                 kStart);
  }
  stop = true;
  judge.join();
  EXPECT_EQ(hidden, 0);
}

// Two policies of which each gives one of two verdicts, while both containers come and go:
// each thread gets one of both.
TEST(PolicyMirrorThreadsTest, JudgingGoesOnWhileMessagesCome) {
  PolicyMirror mirror(absl::Hours(1), WhenUnsure::kAsk);
  std::atomic<bool> stop = false;
  std::atomic<int64_t> wrong = 0;
  std::vector<std::thread> judges;
  for (int i = 0; i < 3; ++i) {
    judges.emplace_back([&, i] {
      const PolicyMirror::Container& always = mirror.Find("always");
      while (!stop) {
        // Unknown before the first snapshot, then for ever expired.
        if (mirror.Judge(always, {kT - 60, 60}, mirror.At(kStart)) == LocalVerdict::kVisible)
          ++wrong;
        mirror.Judge(mirror.Find(absl::StrCat("comes and goes ", i)), {kT - 60, 60},
                     mirror.At(kStart));
      }
    });
  }
  for (int64_t round = 1; round <= 2000; ++round) {
    const int64_t ttl = round % 2 == 0 ? -1 : 60;
    mirror.Apply(SentAt(kStart, v1::WATCH_EVENT_SNAPSHOT_END,
                        absl::StrCat("containers { id: 'always' default_ttl: ", ttl, " }",
                                     "containers { id: 'comes and goes 1' }")),
                 kStart);
    mirror.Apply(SentAt(kStart, v1::WATCH_EVENT_CHANGE, "deleted_containers: 'comes and goes 1'"),
                 kStart);
    if (round % 10 == 0) mirror.Disconnect();
  }
  stop = true;
  for (std::thread& judge : judges) judge.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace ttl
