#include "service/storage/feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "service/base/done.h"
#include "service/base/error_details.h"
#include "service/base/wake_signal.h"
#include "service/storage/feed/feed_log.h"
#include "tests/testing/feed_for_test.h"

namespace ttl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Kind = DeleteReport::Kind;

class FeedTest : public testing::Test {
 protected:
  TrackOutcome Track(const std::string& id, const std::string& key, int64_t ts,
                     std::optional<int64_t> ttl = std::nullopt) {
    return feeds_.storage().TrackOne(id, key, ts, ttl);
  }
  // A version with an etag.
  // A rebuild reads an item as it is.
  void Rebuild(const std::string& id, const std::string& key, int64_t ts) {
    Storage& storage = *feeds_.storage();
    storage.data_trust().Doubt("lost");
    const absl::Time now = absl::FromUnixSeconds(feeds_.now);
    ScannedItems& scanned = storage.scanned_items();
    scanned.Begin(feeds_.Find(id)->number);
    scanned.BeginPage();
    ASSERT_TRUE(Await<absl::StatusOr<std::vector<ScanComparison>>>([&](auto done) {
                  scanned.Apply(feeds_.Find(id)->number, {{KeyOf(key), {{ts}, "", {}, 0}}},
                                {now, now, absl::ZeroDuration(), /*adopted=*/true},
                                /*knows_expire_at=*/true, /*dry_run=*/false, std::move(done));
                }).ok());
    scanned.End();
    storage.data_trust().Confirm("lost");
  }

  void TrackEtag(const std::string& id, const std::string& key, int64_t ts,
                 const std::string& etag) {
    ItemReport report;
    report.key = KeyOf(key);
    report.version.times.ts = ts;
    report.version.etag = etag;
    ASSERT_TRUE(feeds_.storage().Track(id, {report}).ok());
  }
  void Untrack(const std::string& id, const std::string& key) {
    feeds_.storage().UntrackOne(id, key, feeds_.now);
  }
  void SetTtl(const std::string& id, std::optional<int64_t> default_ttl) {
    feeds_.storage().SetDefaultTtl(id, default_ttl);
  }
  absl::StatusOr<FeedPage> Read(FeedQuery query) { return feeds_.feed().Read(query); }
  absl::Status Unsubscribe(const std::string& id, const std::string& name) {
    return Await<absl::Status>(
        [&](auto done) { feeds_.feed().Unsubscribe(id, name, std::move(done)); });
  }
  OperationCounts CostOf(const std::function<void()>& run) {
    const OperationCounts before = feeds_.storage()->Counts();
    run();
    const OperationCounts after = feeds_.storage()->Counts();
    return {after.gets - before.gets,   after.puts - before.puts,   after.deletes - before.deletes,
            after.seeks - before.seeks, after.steps - before.steps, after.syncs - before.syncs};
  }

  FeedForTest feeds_;
};

// What is logged of an item "a" that was written at kT in a container with a default_ttl of 60, at
// the second at which it expires.
TEST_F(FeedTest, EachChangeOfAnItemIsLoggedByItsRule) {
  std::string c;
  const auto tell = [&] { EXPECT_EQ(feeds_.Announce(c, {"a"}), 1); };
  const auto outcome = [&](Kind kind, bool deleted) {
    feeds_.Apply(c, feeds_.Judge(c, "a"), kind, deleted);
  };
  const auto modified = [&](int64_t ts) {
    DeleteReport report = feeds_.Judge(c, "a");
    report.current.times.ts = ts;
    feeds_.Apply(c, report, Kind::kModified, false);
  };
  const int64_t later = kT + 60;
  struct Case {
    std::string when;
    std::function<void()> run;
    std::vector<std::string> log;
  };
  const std::vector<Case> cases = {
      {"nothing happens", [] {}, {}},
      {"it is announced", tell, {"EXPIRED a"}},
      {"a second before",
       [&] {
         --feeds_.now;
         EXPECT_EQ(feeds_.Announce(c, {"a"}), 0);
         Track(c, "a", feeds_.now);
         Untrack(c, "a");
       },
       {}},
      {"it is announced again",
       [&] {
         tell();
         EXPECT_EQ(feeds_.Announce(c, {"a"}), 0);
       },
       {"EXPIRED a"}},
      {"announced and rewritten",
       [&] {
         tell();
         Track(c, "a", later);
       },
       {"EXPIRED a", "REPLACED a of 1"}},
      {"rewritten before it is announced",
       [&] { Track(c, "a", later); },
       {"EXPIRED a", "REPLACED a of 1"}},
      {"announced and rewritten so that it is expired again",
       [&] {
         tell();
         Track(c, "a", kT + 1, 5);
       },
       {"EXPIRED a", "REPLACED a of 1", "EXPIRED a late"}},
      {"announced and untracked",
       [&] {
         tell();
         Untrack(c, "a");
       },
       {"EXPIRED a", "GONE a of 1"}},
      {"untracked before it is announced", [&] { Untrack(c, "a"); }, {"EXPIRED a", "GONE a of 1"}},
      {"announced and reported again as it is",
       [&] {
         tell();
         Track(c, "a", kT);
         EXPECT_EQ(feeds_.Announce(c, {"a"}), 0);
       },
       {"EXPIRED a"}},
      {"reported again as it is before it is announced", [&] { Track(c, "a", kT); }, {}},
      {"announced, and its etag is learned",
       [&] {
         tell();
         TrackEtag(c, "a", kT, "1");
       },
       {"EXPIRED a"}},
      {"announced, and another version of the same second is reported",
       [&] {
         TrackEtag(c, "a", kT, "1");
         tell();
         TrackEtag(c, "a", kT, "2");
       },
       {"EXPIRED a", "REPLACED a of 1", "EXPIRED a late"}},
      {"announced and deleted by the sweep",
       [&] {
         tell();
         outcome(Kind::kGone, true);
       },
       {"EXPIRED a", "PURGED a of 1"}},
      {"announced, and the store does not have it",
       [&] {
         tell();
         outcome(Kind::kGone, false);
       },
       {"EXPIRED a", "GONE a of 1"}},
      {"announced, and the store has another version",
       [&] {
         tell();
         modified(later);
       },
       {"EXPIRED a", "REPLACED a of 1"}},
      {"announced, and the store has the same version after all",
       [&] {
         tell();
         modified(kT);
         EXPECT_EQ(feeds_.Announce(c, {"a"}), 0);
       },
       {"EXPIRED a"}},
      {"announced, and the store does not say what it has",
       [&] {
         tell();
         outcome(Kind::kStateUnknown, false);
         EXPECT_TRUE(feeds_.IsAnnounced(c, "a"));
         Track(c, "a", later);
       },
       {"EXPIRED a", "REPLACED a of 1"}},
      {"its state is unknown before it is announced",
       [&] {
         outcome(Kind::kStateUnknown, false);
         EXPECT_EQ(feeds_.Announce(c, {"a"}), 0);
         Track(c, "a", later);
       },
       {}},
      {"announced, its state is unknown, and the same version is reported",
       [&] {
         tell();
         outcome(Kind::kStateUnknown, false);
         Track(c, "a", kT);
         EXPECT_TRUE(feeds_.IsAnnounced(c, "a"));
       },
       {"EXPIRED a"}},
      {"announced, its state is unknown while the policy is loosened, and the same version is "
       "reported",
       [&] {
         tell();
         outcome(Kind::kStateUnknown, false);
         SetTtl(c, 1000);
         EXPECT_EQ(feeds_.Revive(c, {"a"}), 0);
         Track(c, "a", kT);
         EXPECT_FALSE(feeds_.IsAnnounced(c, "a"));
       },
       {"EXPIRED a", "POLICY_CHANGED", "REVIVED a of 1"}},
      {"the same, but it is reported while nothing may be judged",
       [&] {
         tell();
         outcome(Kind::kStateUnknown, false);
         SetTtl(c, 1000);
         EXPECT_EQ(feeds_.Revive(c, {"a"}), 0);
         feeds_.is_judging = false;
         Track(c, "a", kT);
         EXPECT_FALSE(feeds_.IsAnnounced(c, "a"));
       },
       {"EXPIRED a", "POLICY_CHANGED", "REPLACED a of 1"}},
      {"announced, and a rebuild counts it as touched",
       [&] {
         tell();
         feeds_.storage().AllowTouch(c);
         Rebuild(c, "a", kT);
         EXPECT_FALSE(feeds_.IsAnnounced(c, "a"));
       },
       {"EXPIRED a", "REVIVED a of 1"}},
      {"the same while nothing may be judged",
       [&] {
         tell();
         feeds_.storage().AllowTouch(c);
         feeds_.is_judging = false;
         Rebuild(c, "a", kT);
         EXPECT_FALSE(feeds_.IsAnnounced(c, "a"));
       },
       {"EXPIRED a", "REPLACED a of 1"}},
      {"its state is unknown before it is announced, and the sweep deletes it",
       [&] {
         outcome(Kind::kStateUnknown, false);
         outcome(Kind::kGone, true);
       },
       {"EXPIRED a", "PURGED a of 1"}},
      {"its state is unknown before it is announced, and the store does not have it",
       [&] {
         outcome(Kind::kStateUnknown, false);
         outcome(Kind::kGone, false);
       },
       {}},
      {"deleted by the sweep after it was reported again as it is",
       [&] {
         tell();
         const DeleteReport judged = feeds_.Judge(c, "a");
         Track(c, "a", kT);
         feeds_.Apply(c, judged, Kind::kGone, true);
         EXPECT_FALSE(feeds_.IsAnnounced(c, "a"));
         tell();
       },
       {"EXPIRED a", "PURGED a of 1", "EXPIRED a"}},
      {"deleted by the sweep after it was rewritten",
       [&] {
         tell();
         const DeleteReport judged = feeds_.Judge(c, "a");
         Track(c, "a", later);
         feeds_.Apply(c, judged, Kind::kGone, true);
       },
       {"EXPIRED a", "REPLACED a of 1", "PURGED a of 1 superseded"}},
      {"not found by the sweep after it was rewritten",
       [&] {
         tell();
         const DeleteReport judged = feeds_.Judge(c, "a");
         Track(c, "a", later);
         feeds_.Apply(c, judged, Kind::kGone, false);
       },
       {"EXPIRED a", "REPLACED a of 1"}},
      {"deleted by the sweep after it was untracked",
       [&] {
         tell();
         const DeleteReport judged = feeds_.Judge(c, "a");
         Untrack(c, "a");
         feeds_.Apply(c, judged, Kind::kGone, true);
       },
       {"EXPIRED a", "GONE a of 1", "PURGED a of 1 superseded"}},
      {"deleted by the sweep after it was revived",
       [&] {
         tell();
         const DeleteReport judged = feeds_.Judge(c, "a");
         SetTtl(c, 1000);
         EXPECT_EQ(feeds_.Revive(c, {"a"}), 1);
         feeds_.Apply(c, judged, Kind::kGone, true);
       },
       {"EXPIRED a", "POLICY_CHANGED", "REVIVED a of 1", "PURGED a of 1 superseded"}},
      {"the policy is loosened, and it expires anew",
       [&] {
         tell();
         EXPECT_EQ(feeds_.Revive(c, {"a"}), 0);
         SetTtl(c, 100);
         EXPECT_EQ(feeds_.Revive(c, {"a"}), 1);
         EXPECT_EQ(feeds_.Revive(c, {"a"}), 0);
         EXPECT_EQ(feeds_.Announce(c, {"a"}), 0);
         feeds_.now = kT + 100;
         tell();
       },
       {"EXPIRED a", "POLICY_CHANGED", "REVIVED a of 1", "EXPIRED a"}},
      {"the policy is loosened, and it is rewritten before it is revived",
       [&] {
         tell();
         SetTtl(c, std::nullopt);
         Track(c, "a", later);
       },
       {"EXPIRED a", "POLICY_CHANGED", "REPLACED a of 1"}},
      {"the policy is tightened, which makes it late",
       [&] {
         feeds_.now = kT;
         Track(c, "b", kT - 20);
         SetTtl(c, 10);
         EXPECT_EQ(feeds_.Announce(c, {"a", "b"}), 1);
       },
       {"POLICY_CHANGED", "EXPIRED b late"}},
      {"another setting is changed",
       [&] { ASSERT_TRUE(feeds_.SetFeed(c, FeedSettings{.max_age_seconds = 60}).ok()); },
       {}},
      {"nothing may be judged, and it is rewritten",
       [&] {
         feeds_.is_judging = false;
         EXPECT_EQ(feeds_.Announce(c, {"a"}), 0);
         Track(c, "a", later);
         Track(c, "b", kT - 100);
         Untrack(c, "b");
       },
       {}},
      {"announced, nothing may be judged, and it is rewritten",
       [&] {
         tell();
         feeds_.is_judging = false;
         Track(c, "a", later);
       },
       {"EXPIRED a", "REPLACED a of 1"}},
      {"announced, and the judging time goes back",
       [&] {
         tell();
         feeds_.now = kT;
         Track(c, "a", kT);
       },
       {"EXPIRED a"}},
      {"an item is reported that is expired",
       [&] { Track(c, "b", kT - 1000); },
       {"EXPIRED b late"}},
      {"an item is reported that never expires",
       [&] {
         Track(c, "b", kT - 1000, kNeverExpires);
         feeds_.now += 1'000'000;
         EXPECT_EQ(feeds_.Announce(c, {"b"}), 0);
         Untrack(c, "b");
       },
       {}},
      {"an older version is reported",
       [&] {
         tell();
         EXPECT_EQ(Track(c, "a", kT - 1), TrackOutcome::kStale);
       },
       {"EXPIRED a"}},
  };
  int number = 0;
  for (const Case& test : cases) {
    SCOPED_TRACE(test.when);
    c = absl::StrCat("c", ++number);
    feeds_.is_judging = true;
    feeds_.now = kT;
    feeds_.Create(c, 60);
    Track(c, "a", kT);
    feeds_.now = kT + 60;
    test.run();
    EXPECT_EQ(feeds_.Log(c), test.log);
    EXPECT_EQ(feeds_.storage()->CheckInvariants(), absl::OkStatus());
  }
}

TEST_F(FeedTest, AnEventSaysWhatHappened) {
  feeds_.Create("c", 60);
  Track("c", "a", kT);
  Track("c", "b", kT, 30);
  feeds_.now = kT + 61;
  ASSERT_EQ(feeds_.Announce("c", {"a", "b"}), 2);
  feeds_.now = kT + 62;
  feeds_.Apply("c", feeds_.Judge("c", "a"), Kind::kGone, true);
  Track("c", "b", kT + 62);
  SetTtl("c", 70);
  const std::vector<FeedEvent> events = feeds_.Events("c");
  ASSERT_THAT(events, SizeIs(5));
  FeedEvent expired;
  expired.kind = EventKind::kExpired;
  expired.sequence = events[0].sequence;
  expired.time = absl::FromUnixSeconds(kT + 61);
  expired.key = KeyOf("a");
  expired.ts = kT;
  expired.ttl_source = TtlSource::kContainer;
  expired.expire_time = kT + 60;
  EXPECT_EQ(events[0], expired);
  EXPECT_EQ(events[1].ttl_source, TtlSource::kItem);
  EXPECT_EQ(events[1].expire_time, kT + 30);
  FeedEvent purged = expired;
  purged.kind = EventKind::kPurged;
  purged.sequence = events[2].sequence;
  purged.time = absl::FromUnixSeconds(kT + 62);
  purged.expired_sequence = expired.sequence;
  purged.lateness_seconds = 7;
  EXPECT_EQ(events[2], purged);
  EXPECT_EQ(events[3].new_ts, kT + 62);
  EXPECT_EQ(events[3].ts, kT);
  EXPECT_EQ(events[4].default_ttl, 70);
  EXPECT_EQ(events[4].old_default_ttl, 60);
}

TEST_F(FeedTest, AnItemIsAnnouncedOnlyAsItWasFound) {
  feeds_.Create("c", 60);
  Track("c", "a", kT);
  const uint64_t number = feeds_.Find("c")->number;
  const uint64_t generation = feeds_.storage().FindItem("c", "a")->generation;
  feeds_.now = kT + 60;
  const auto announce = [&](uint64_t container, AnnouncedItem item) {
    return *Await<absl::StatusOr<int64_t>>(
        [&](auto done) { feeds_.feed().Announce(container, {item}, std::move(done)); });
  };
  EXPECT_EQ(announce(number + 100, {KeyOf("a"), generation}), 0) << "no such container";
  EXPECT_EQ(announce(number, {KeyOf("b"), 1}), 0) << "no such item";
  EXPECT_EQ(announce(number, {KeyOf("a"), generation + 1}), 0) << "rewritten since";
  EXPECT_EQ(announce(number, {KeyOf("a"), generation, /*late=*/true}), 1);
  EXPECT_THAT(feeds_.Log("c"), ElementsAre("EXPIRED a late"));
}

TEST_F(FeedTest, ANoticeIsGivenOncePerVersionAndAgainIfTheEndMovesByMore) {
  feeds_.Create("c", 60, FeedSettings{.notice_seconds = 20});
  feeds_.Create("none", 60);
  Track("c", "a", kT);
  Track("none", "a", kT);
  const auto notice = [&](int64_t now) {
    feeds_.now = now;
    return feeds_.AnnounceExpiring("c", {"a"});
  };
  EXPECT_EQ(notice(kT + 39), 0) << "too early";
  EXPECT_EQ(notice(kT + 40), 1);
  EXPECT_EQ(notice(kT + 41), 0) << "given";
  EXPECT_EQ(feeds_.AnnounceExpiring("none", {"a"}), 0) << "no notices";
  SetTtl("c", 80);
  EXPECT_EQ(notice(kT + 70), 0) << "the end has moved by no more than the notice";
  SetTtl("c", 81);
  EXPECT_EQ(notice(kT + 70), 1);
  Track("c", "a", kT + 1);
  EXPECT_EQ(notice(kT + 71), 1) << "another version";
  EXPECT_EQ(notice(kT + 82), 0) << "expired";
  EXPECT_THAT(feeds_.Log("c"), ElementsAre("EXPIRING a", "POLICY_CHANGED", "POLICY_CHANGED",
                                           "EXPIRING a", "EXPIRING a"));
}

TEST_F(FeedTest, ANoticeIsGivenAgainInANewFeed) {
  const FeedSettings settings{.notice_seconds = 20};
  feeds_.Create("c", 60, settings);
  Track("c", "a", kT);
  feeds_.now = kT + 40;
  EXPECT_EQ(feeds_.AnnounceExpiring("c", {"a"}), 1);
  Track("c", "a", kT);
  feeds_.Reopen();
  EXPECT_EQ(feeds_.AnnounceExpiring("c", {"a"}), 0) << "the same feed";
  ASSERT_TRUE(feeds_.SetFeed("c", std::nullopt).ok());
  ASSERT_TRUE(feeds_.SetFeed("c", settings).ok());
  EXPECT_EQ(feeds_.AnnounceExpiring("c", {"a"}), 1);
  EXPECT_EQ(feeds_.AnnounceExpiring("c", {"a"}), 0) << "given";
  EXPECT_THAT(feeds_.Log("c"), ElementsAre("EXPIRING a late"));
}

TEST_F(FeedTest, ToldItemsAreCounted) {
  feeds_.Create("c", 60);
  for (const char* key : {"a", "b", "c"}) Track("c", key, kT);
  feeds_.now = kT + 60;
  const auto announced = [&] { return feeds_.feed().Figures(*feeds_.Find("c")).announced_items; };
  EXPECT_EQ(announced(), 0);
  feeds_.Announce("c", {"a", "b", "c"});
  EXPECT_EQ(announced(), 3);
  Track("c", "a", kT + 60);
  EXPECT_EQ(announced(), 2);
  feeds_.Reopen();
  feeds_.storage().FinishHousekeeping();
  EXPECT_EQ(announced(), 2);
  EXPECT_TRUE(feeds_.feed().Figures(*feeds_.Find("c")).announced_items_counted);
  ASSERT_TRUE(feeds_.SetFeed("c", std::nullopt).ok());
  EXPECT_EQ(announced(), 0);
  ASSERT_TRUE(feeds_.SetFeed("c", FeedSettings()).ok());
  EXPECT_EQ(announced(), 0);
  EXPECT_EQ(feeds_.Announce("c", {"b", "c"}), 2) << "announced in the new feed too";
  EXPECT_EQ(announced(), 2);
}

TEST_F(FeedTest, OffCostsNothing) {
  feeds_.storage().Create("c", 60);
  Track("c", "a", kT);
  feeds_.now = kT + 1000;
  const OperationCounts rewrite = CostOf([&] { Track("c", "a", kT + 1); });
  EXPECT_EQ(rewrite.puts, 1);
  EXPECT_EQ(rewrite.gets + rewrite.seeks + rewrite.steps + rewrite.deletes, 0);
  feeds_.storage().FinishHousekeeping();
  EXPECT_EQ(CostOf([&] { feeds_.storage()->RunHousekeeping(); }).seeks, 0);
  EXPECT_THAT(feeds_.storage().Records("mformat"), ElementsAre(testing::Pair("mformat", "1")))
      << "an older program can read the data";
  EXPECT_THAT(feeds_.storage().Records("mnext_event"), IsEmpty());
}

TEST_F(FeedTest, OnCostsAPutForEachEventAndNothingForItemsThatLive) {
  feeds_.Create("c", 60);
  for (const char* key : {"a", "b"}) Track("c", key, kT);
  const OperationCounts rewrite = CostOf([&] { Track("c", "a", kT + 1); });
  EXPECT_EQ(rewrite.puts, 1);
  EXPECT_EQ(rewrite.gets + rewrite.seeks + rewrite.steps, 0);
  feeds_.now = kT + 61;
  feeds_.Announce("c", {"b"});  // reserves sequences
  EXPECT_EQ(CostOf([&] { feeds_.Announce("c", {"a"}); }).puts, 2) << "the event and the mark";
  const DeleteReport judged = feeds_.Judge("c", "a");
  const OperationCounts purge = CostOf([&] { feeds_.Apply("c", judged, Kind::kGone, true); });
  EXPECT_EQ(purge.puts, 2) << "the event and the totals";
  EXPECT_EQ(purge.gets + purge.seeks + purge.steps, 0);
}

TEST_F(FeedTest, ReadMergesFeedsPageByPage) {
  for (const char* id : {"c", "d", "e"}) feeds_.Create(id, 60);
  for (int i = 0; i < 6; ++i) Track(i % 2 == 0 ? "c" : "d", absl::StrCat(i), kT - 1000);
  FeedQuery query;
  query.containers = {feeds_.Find("c"), feeds_.Find("d"), feeds_.Find("e")};
  query.max_events = 4;
  const absl::StatusOr<FeedPage> first = Read(query);
  ASSERT_TRUE(first.ok());
  ASSERT_THAT(first->entries, SizeIs(4));
  EXPECT_TRUE(first->more);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(first->entries[i].event.key.id, absl::StrCat(i));
    EXPECT_EQ(first->entries[i].container->id, i % 2 == 0 ? "c" : "d");
  }
  query.after = first->reached;
  const absl::StatusOr<FeedPage> second = Read(query);
  ASSERT_THAT(second->entries, SizeIs(2));
  EXPECT_FALSE(second->more);
  EXPECT_EQ(second->reached, feeds_.feed().LastSequence());
  query.after = second->reached;
  const OperationCounts cost = CostOf([&] { EXPECT_THAT(Read(query)->entries, IsEmpty()); });
  EXPECT_EQ(cost.seeks, 0) << "nothing new, nothing read";
}

TEST_F(FeedTest, ReadIsBoundedInBytesAndInEventsExamined) {
  feeds_.Create("c", 60);
  for (int i = 0; i < 10; ++i) Track("c", absl::StrCat(i), kT - 1000);
  FeedQuery query;
  query.containers = {feeds_.Find("c")};
  query.max_bytes = 1;
  EXPECT_THAT(Read(query)->entries, SizeIs(1));
  query.max_bytes = 1000;
  query.kinds = {EventKind::kGone};
  query.max_examined = 3;
  absl::StatusOr<FeedPage> page = Read(query);
  EXPECT_THAT(page->entries, IsEmpty());
  EXPECT_TRUE(page->more);
  Untrack("c", "5");
  int pages = 1;
  while (page->more) {
    query.after = page->reached;
    page = Read(query);
    ++pages;
  }
  EXPECT_EQ(pages, 4);
  ASSERT_THAT(page->entries, SizeIs(1));
  EXPECT_EQ(page->entries[0].event.key.id, "5");
}

TEST_F(FeedTest, AResyncIsReadWhateverKindsAreAskedFor) {
  feeds_.Create("c", 60);
  Track("c", "a", kT - 1000);
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                feeds_.feed().Resync(feeds_.Find("c")->number, std::move(done));
              }).ok());
  FeedQuery query;
  query.containers = {feeds_.Find("c")};
  query.kinds = {EventKind::kGone};
  const absl::StatusOr<FeedPage> page = Read(query);
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_THAT(page->entries, SizeIs(1));
  EXPECT_EQ(page->entries[0].event.kind, EventKind::kResync);
}

TEST_F(FeedTest, ListenersHearOfEvents) {
  feeds_.Create("c", 60);
  WakeSignal signal;
  feeds_.feed().AddListener(signal);
  Track("c", "a", kT - 1000);
  signal.WaitFor(absl::Minutes(1));
  feeds_.feed().RemoveListener(signal);
}

TEST_F(FeedTest, OldEventsAreDroppedWhileTimeIsTrusted) {
  feeds_.Create("c", 60, FeedSettings{.max_age_seconds = 100});
  const auto expire_one = [&](const std::string& key) { Track("c", key, kT - 1000); };
  expire_one("a");
  feeds_.now = kT + 50;
  expire_one("b");
  const auto tidy_at = [&](int64_t now) {
    feeds_.now = now;
    feeds_.storage().FinishHousekeeping();
    return feeds_.Events("c", feeds_.feed().Figures(*feeds_.Find("c")).dropped_sequence).size();
  };
  EXPECT_EQ(tidy_at(kT + 99), 2);
  feeds_.is_judging = false;
  EXPECT_EQ(tidy_at(kT + 100), 2);
  feeds_.is_judging = true;
  EXPECT_EQ(CostOf([&] { feeds_.storage()->RunHousekeeping(); }).deletes, 1);
  EXPECT_EQ(tidy_at(kT + 100), 1);
  EXPECT_EQ(CostOf([&] { feeds_.storage()->RunHousekeeping(); }).seeks, 0) << "the first is known";
  FeedQuery query;
  query.containers = {feeds_.Find("c")};
  const absl::Status dropped = Read(query).status();
  EXPECT_EQ(ReasonOf(dropped), "EVENTS_DROPPED") << dropped;
  feeds_.Reopen();
  EXPECT_EQ(ReasonOf(Read(query).status()), "EVENTS_DROPPED");
  EXPECT_EQ(tidy_at(kT + 150), 0);
  EXPECT_EQ(feeds_.feed().Figures(*feeds_.Find("c")).events, 0);
  Untrack("c", "a");
  EXPECT_EQ(feeds_.Events("c", feeds_.feed().Figures(*feeds_.Find("c")).dropped_sequence).size(), 1)
      << "the end of an EXPIRED that was dropped";
}

TEST_F(FeedTest, TheOldestEventsBeyondTheBytesAreDropped) {
  feeds_.Create("c", 60, FeedSettings{.max_bytes = FeedSettings::kMinMaxBytes});
  const auto figures = [&] { return feeds_.feed().Figures(*feeds_.Find("c")); };
  const std::string long_key(1000, 'k');
  std::vector<ItemReport> reports;
  for (int i = 0; i < 1200; ++i) {
    ItemReport& report = reports.emplace_back();
    report.key = KeyOf(absl::StrCat(long_key, i));
    report.version.times.ts = kT - 1000;
  }
  ASSERT_TRUE(feeds_.storage().Track("c", reports).ok());
  EXPECT_EQ(figures().events, 1200);
  EXPECT_GT(figures().bytes, FeedSettings::kMinMaxBytes);
  feeds_.Reopen();
  EXPECT_TRUE(figures().is_lower_bound);
  feeds_.storage().FinishHousekeeping();
  EXPECT_FALSE(figures().is_lower_bound);
  EXPECT_LE(figures().bytes, FeedSettings::kMinMaxBytes);
  EXPECT_GT(figures().bytes, FeedSettings::kMinMaxBytes - 2000);
  EXPECT_EQ(feeds_.Events("c", figures().dropped_sequence).size(), figures().events);
}

TEST_F(FeedTest, AFeedAtItsBoundsLeavesHousekeepingItsRest) {
  feeds_.Create("c", 60, FeedSettings{.max_age_seconds = 100});
  for (int i = 0; i < 3; ++i) {
    feeds_.now = kT + i;
    Track("c", absl::StrCat(i), kT - 1000);
  }
  feeds_.storage().FinishHousekeeping();
  for (int i = 0; i < 3; ++i) {
    feeds_.now = kT + 100 + i;
    EXPECT_FALSE(feeds_.storage()->RunHousekeeping());
    EXPECT_EQ(feeds_.feed().Figures(*feeds_.Find("c")).events, 2 - i);
  }
}

TEST_F(FeedTest, AStepOfDroppingIsBoundedInFeedsAndIsOneCommit) {
  constexpr int kFeeds = 600;
  const auto id = [](int i) { return absl::StrCat("c", i); };
  for (int i = 0; i < kFeeds; ++i) {
    feeds_.Create(id(i), 60, FeedSettings{.max_age_seconds = 100});
    Track(id(i), "a", kT - 1000);
  }
  feeds_.storage().FinishHousekeeping();
  feeds_.now = kT + 100;
  bool more = false;
  const auto step = [&] { more = feeds_.storage()->RunHousekeeping(); };
  const OperationCounts first = CostOf(step);
  EXPECT_EQ(first.deletes, 500);
  EXPECT_EQ(first.syncs, 1);
  EXPECT_TRUE(more);
  EXPECT_EQ(CostOf(step).deletes, 100);
  EXPECT_FALSE(more);
  for (int i = 0; i < kFeeds; ++i) {
    ASSERT_EQ(feeds_.feed().Figures(*feeds_.Find(id(i))).events, 0) << i;
  }
}

TEST(FeedLogTest, AnEventLoggedWhileADropFailsIsNotTheOldest) {
  FeedLog log;
  auto container = std::make_shared<Container>();
  container->number = 1;
  container->id = "c";
  container->feed.number = 2;
  const auto log_event = [&](int64_t seconds) {
    const FeedLog::Logged event = {2, log.NextSequence(), absl::FromUnixSeconds(seconds), 10};
    FeedLog::Changes changes;
    changes.events = absl::MakeConstSpan(&event, 1);
    changes.used_sequence = event.sequence;
    log.Publish(changes);
  };
  FeedLog::Changes created;
  created.containers = {{1, container}};
  log.Publish(created);
  log_event(kT);
  log.SetDropped(2, 1);
  log_event(kT + 50);
  log.TakeBackDropped(2, 0);
  EXPECT_EQ(log.Find(2)->dropped_sequence, 0);
  EXPECT_FALSE(log.Find(2)->oldest_time.has_value()) << "to be read again";
}

TEST(FeedLogTest, SubscriptionsOfOneFeedAreFoundWithoutTheOthers) {
  FeedLog log;
  constexpr uint64_t kFeeds = 20'000;
  FeedLog::Changes changes;
  for (uint64_t i = 1; i <= kFeeds; ++i) {
    auto container = std::make_shared<Container>();
    container->number = i;
    container->id = absl::StrCat("c", i);
    container->feed.number = i;
    changes.containers.emplace_back(i, container);
  }
  Subscription subscription;
  subscription.name = "s";
  changes.subscriptions.push_back({kFeeds, "s", subscription});
  log.Publish(changes);
  const auto time_of = [&](uint64_t feed) {
    const absl::Time start = absl::Now();
    for (int i = 0; i < 100; ++i) {
      EXPECT_THAT(log.ListSubscriptions(feed, "", "", 10), SizeIs(1));
      EXPECT_EQ(log.CountSubscriptions(feed), 1);
    }
    return absl::Now() - start;
  };
  EXPECT_LT(time_of(kFeeds) * 10, time_of(0));
}

TEST_F(FeedTest, AReaderKnowsOfWhatIsBeingDropped) {
  feeds_.Create("c", 60, FeedSettings{.max_age_seconds = 100});
  Track("c", "a", kT - 1000);
  feeds_.now = kT + 100;
  FeedQuery query;
  query.containers = {feeds_.Find("c")};
  feeds_.storage().env().HoldSyncs(true);
  std::thread housekeeping([&] { feeds_.storage()->RunHousekeeping(); });
  feeds_.storage().env().AwaitHeldSync();
  EXPECT_EQ(ReasonOf(Read(query).status()), "EVENTS_DROPPED") << "before it is gone";
  feeds_.storage().env().HoldSyncs(false);
  housekeeping.join();
  EXPECT_EQ(ReasonOf(Read(query).status()), "EVENTS_DROPPED");
}

TEST_F(FeedTest, WhatCouldNotBeDroppedIsKept) {
  feeds_.Create("c", 60, FeedSettings{.max_age_seconds = 100});
  Track("c", "a", kT - 1000);
  feeds_.storage().FinishHousekeeping();
  feeds_.now = kT + 100;
  feeds_.storage().env().FailWrites(true);
  feeds_.storage()->RunHousekeeping();
  feeds_.storage().env().FailWrites(false);
  EXPECT_THAT(feeds_.Log("c"), ElementsAre("EXPIRED a late"));
  feeds_.storage().FinishHousekeeping();
  EXPECT_EQ(feeds_.feed().Figures(*feeds_.Find("c")).events, 0);
}

// The first write after a start that has an event reserves new sequences. It fails, so those that
// it took are not reserved; what is stored or answered after that must not depend on them.
TEST(FeedSequencesTest, WhatAFailedWriteTookIsUsedOnlyOnceItIsReserved) {
  struct Case {
    std::string what;
    std::function<uint64_t(FeedForTest&)> take;  // a position of the log
  };
  const std::vector<Case> cases = {
      {"a page",
       [](FeedForTest& feeds) {
         FeedQuery query;
         query.containers = {feeds.Find("c")};
         return feeds.feed().Read(query)->reached;
       }},
      {"a subscription",
       [](FeedForTest& feeds) {
         return feeds.Subscribe("c", "s")->subscription.acknowledged_sequence;
       }},
      {"a new feed",
       [](FeedForTest& feeds) {
         EXPECT_TRUE(feeds.SetFeed("c", std::nullopt).ok());
         return feeds.SetFeed("c", FeedSettings()).value()->feed.first_sequence;
       }},
      {"an event",
       [](FeedForTest& feeds) {
         feeds.storage().TrackOne("c", "b", kT - 1000);
         return feeds.Events("c").back().sequence;
       }},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.what);
    FeedForTest feeds;
    feeds.Create("c", 60);
    feeds.storage().TrackOne("c", "a", kT - 1000);
    feeds.Reopen();
    feeds.storage().env().FailWrites(true);
    const ItemReport report = {KeyOf("failed"), {{kT - 1000, {}}, "", {}, 0}};
    EXPECT_FALSE(feeds.storage().Track("c", {report}).ok());
    feeds.storage().env().FailWrites(false);
    feeds.storage().FinishHousekeeping();
    const uint64_t taken = test.take(feeds);
    feeds.Reopen();
    EXPECT_GE(feeds.feed().LastSequence(), taken);
    feeds.storage().TrackOne("c", "x", kT - 1000);
    EXPECT_TRUE(feeds.IsAnnounced("c", "x"));
    const std::vector<FeedEvent> behind = feeds.Events("c", taken);
    ASSERT_THAT(behind, SizeIs(1));
    EXPECT_EQ(behind[0].key.id, "x");
  }
}

TEST_F(FeedTest, APositionBehindTheLastSequenceIsOfAnotherLog) {
  feeds_.Create("c", 60);
  Track("c", "a", kT - 1000);
  FeedQuery query;
  query.containers = {feeds_.Find("c")};
  query.after = feeds_.feed().LastSequence() + 1;
  EXPECT_EQ(ReasonOf(Read(query).status()), "LOG_REPLACED");
}

TEST_F(FeedTest, NoSequenceIsUsedAgainAfterAStart) {
  feeds_.Create("c", 60);
  Track("c", "a", kT - 1000);
  const uint64_t first = feeds_.Events("c").back().sequence;
  feeds_.Reopen();
  EXPECT_THAT(feeds_.Log("c"), ElementsAre("EXPIRED a late"));
  Untrack("c", "a");
  const std::vector<FeedEvent> events = feeds_.Events("c");
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_GT(events[1].sequence, first);
  EXPECT_GE(feeds_.feed().LastSequence(), events[1].sequence);
}

TEST_F(FeedTest, AFailedWriteLeavesNoHalfEventsAndTheLogGoesOn) {
  feeds_.Create("c", 60);
  Track("c", "a", kT);
  feeds_.now = kT + 60;
  feeds_.storage().env().FailWrites(true);
  const uint64_t number = feeds_.Find("c")->number;
  EXPECT_FALSE(Await<absl::StatusOr<int64_t>>([&](auto done) {
                 feeds_.feed().Announce(number, {{KeyOf("a"), 1}}, std::move(done));
               }).ok());
  feeds_.storage().env().FailWrites(false);
  feeds_.storage().FinishHousekeeping();
  ASSERT_TRUE(feeds_.storage()->WriteHealth().ok());
  feeds_.Announce("c", {"a"});  // unless the write is there all the same
  EXPECT_TRUE(feeds_.IsAnnounced("c", "a"));
  Track("c", "a", kT + 60);
  EXPECT_THAT(feeds_.Log("c"), ElementsAre("EXPIRED a", "REPLACED a of 1"));
}

TEST_F(FeedTest, SubscriptionsBeginBehindTheLastEventAndOnlyGoForward) {
  feeds_.Create("c", 60);
  Track("c", "a", kT - 1000);
  const absl::StatusOr<SubscriptionView> created =
      feeds_.Subscribe("c", "s", {EventKind::kExpired});
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(created->container_id, "c");
  EXPECT_EQ(created->subscription.kinds, std::vector<EventKind>{EventKind::kExpired});
  EXPECT_EQ(created->subscription.create_time, absl::FromUnixSeconds(kT));
  EXPECT_EQ(created->subscription.acknowledged_sequence, feeds_.feed().LastSequence());
  EXPECT_EQ(ReasonOf(feeds_.Subscribe("c", "s").status()), "SUBSCRIPTION_EXISTS");
  Track("c", "b", kT - 1000);
  const uint64_t last = feeds_.feed().LastSequence();
  EXPECT_EQ(*feeds_.Acknowledge("c", "s", last), last);
  EXPECT_EQ(*feeds_.Acknowledge("c", "s", 1), last) << "backwards";
  EXPECT_EQ(ReasonOf(feeds_.Acknowledge("c", "s", last + 1).status()), "SEQUENCE_NOT_SENT");
  EXPECT_EQ(ReasonOf(feeds_.Acknowledge("c", "other", last).status()), "SUBSCRIPTION_NOT_FOUND");
  EXPECT_EQ(ReasonOf(feeds_.Acknowledge("none", "s", last).status()), "CONTAINER_NOT_FOUND");
  const auto other_log = Await<absl::StatusOr<uint64_t>>(
      [&](auto done) { feeds_.feed().Acknowledge("c", "s", 1, last, std::move(done)); });
  EXPECT_EQ(ReasonOf(other_log.status()), "LOG_REPLACED");
  feeds_.Reopen();
  EXPECT_EQ(feeds_.feed().Find("c", "s")->subscription.acknowledged_sequence, last);
  EXPECT_TRUE(Unsubscribe("c", "s").ok());
  EXPECT_EQ(ReasonOf(Unsubscribe("c", "s")), "SUBSCRIPTION_NOT_FOUND");
  feeds_.Reopen();
  EXPECT_FALSE(feeds_.feed().Find("c", "s").has_value());
}

TEST_F(FeedTest, SubscriptionsAreListedInOrderAndBounded) {
  feeds_.storage().Create("off", 60);
  for (const char* id : {"d", "c"}) {
    feeds_.Create(id, 60);
    for (const char* name : {"2", "1"}) ASSERT_TRUE(feeds_.Subscribe(id, name).ok());
  }
  const auto list = [&](const std::string& id, const std::string& after_container,
                        const std::string& after_name, size_t limit) {
    std::vector<std::string> names;
    for (const auto& view : feeds_.feed().List(id, after_container, after_name, limit)) {
      names.push_back(absl::StrCat(view.container_id, "/", view.subscription.name));
    }
    return names;
  };
  EXPECT_THAT(list("", "", "", 10), ElementsAre("c/1", "c/2", "d/1", "d/2"));
  EXPECT_THAT(list("", "c", "1", 2), ElementsAre("c/2", "d/1"));
  EXPECT_THAT(list("d", "", "1", 10), ElementsAre("d/2"));
  EXPECT_THAT(list("off", "", "", 10), IsEmpty());
  EXPECT_EQ(ReasonOf(feeds_.Subscribe("off", "s").status()), "FEED_OFF");
  for (size_t i = 4; i < kMaxSubscriptions; ++i) {
    ASSERT_TRUE(feeds_.Subscribe("c", absl::StrCat("n", i)).ok());
  }
  EXPECT_EQ(ReasonOf(feeds_.Subscribe("d", "s").status()), "TOO_MANY_SUBSCRIPTIONS");
}

TEST_F(FeedTest, ASubscriptionKnowsWhatItLostAndWhatIsBehind) {
  feeds_.Create("c", 60, FeedSettings{.max_age_seconds = 100});
  ASSERT_TRUE(feeds_.Subscribe("c", "s").ok());
  const uint64_t acknowledged = feeds_.feed().Find("c", "s")->subscription.acknowledged_sequence;
  for (const char* key : {"a", "b"}) Track("c", key, kT - 1000);
  EventsBehind behind = *feeds_.feed().CountBehind(*feeds_.Find("c"), acknowledged, 10);
  EXPECT_EQ(behind.count, 2);
  EXPECT_EQ(behind.oldest_time, absl::FromUnixSeconds(kT));
  EXPECT_TRUE(feeds_.feed().CountBehind(*feeds_.Find("c"), acknowledged, 1)->is_lower_bound);
  EXPECT_FALSE(feeds_.feed().Find("c", "s")->has_lost_events);
  feeds_.now = kT + 100;
  feeds_.storage().FinishHousekeeping();
  const SubscriptionView view = *feeds_.feed().Find("c", "s");
  EXPECT_TRUE(view.has_lost_events);
  ASSERT_TRUE(feeds_.Acknowledge("c", "s", view.last_sequence).ok());
  EXPECT_FALSE(feeds_.feed().Find("c", "s")->has_lost_events);
  EXPECT_EQ(feeds_.feed().CountBehind(*feeds_.Find("c"), view.last_sequence, 10)->count, 0);
}

TEST_F(FeedTest, AFeedWithSubscriptionsIsDroppedByForceOnly) {
  for (const char* id : {"c", "d"}) {
    feeds_.Create(id, 60);
    ASSERT_TRUE(feeds_.Subscribe(id, "s").ok());
    Track(id, "a", kT - 1000);
  }
  const uint64_t epoch = feeds_.feed().EpochOf(*feeds_.Find("c"));
  EXPECT_EQ(ReasonOf(feeds_.SetFeed("c", std::nullopt).status()), "SUBSCRIPTIONS_EXIST");
  EXPECT_EQ(ReasonOf(feeds_.storage().Delete("d")), "SUBSCRIPTIONS_EXIST");
  const ContainerPtr before = feeds_.Find("c");
  ASSERT_TRUE(feeds_.SetFeed("c", std::nullopt, /*force=*/true).ok());
  EXPECT_FALSE(feeds_.Find("c")->feed.is_on());
  FeedQuery query;
  query.containers = {before};
  EXPECT_EQ(ReasonOf(Read(query).status()), "FEED_OFF");
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                feeds_.storage()->containers().Delete("d", "", /*force=*/true, std::move(done));
              }).ok());
  feeds_.storage().FinishHousekeeping();
  ASSERT_TRUE(feeds_.SetFeed("c", FeedSettings()).ok());
  EXPECT_NE(feeds_.feed().EpochOf(*feeds_.Find("c")), epoch);
  EXPECT_THAT(feeds_.Log("c"), IsEmpty());
  EXPECT_THAT(feeds_.feed().List("", "", "", 10), IsEmpty());
  EXPECT_THAT(feeds_.storage().Records("e"), IsEmpty());
  EXPECT_THAT(feeds_.storage().Records("s"), IsEmpty());
}

TEST_F(FeedTest, ASwitchOnIsNoPolicyChangeAndMakesWhatWasExpiredLate) {
  feeds_.storage().Create("c", 60);
  Track("c", "a", kT);
  Track("c", "b", kT + 10);
  feeds_.now = kT + 65;
  ASSERT_TRUE(feeds_.SetFeed("c", FeedSettings()).ok());
  EXPECT_FALSE(feeds_.Find("c")->feed.needs_revive_walk());
  feeds_.now = kT + 100;
  feeds_.Announce("c", {"a", "b"});
  EXPECT_THAT(feeds_.Log("c"), ElementsAre("EXPIRED a late", "EXPIRED b"));
}

TEST_F(FeedTest, AChangeOfDefaultTtlAsksForAReviveWalk) {
  feeds_.Create("c", 60);
  EXPECT_FALSE(feeds_.Find("c")->feed.needs_revive_walk());
  SetTtl("c", 70);
  const FeedState state = feeds_.Find("c")->feed;
  EXPECT_TRUE(state.needs_revive_walk());
  const auto note = [&](uint64_t revision) {
    return Await<absl::Status>([&](auto done) {
      feeds_.feed().NoteRevived(feeds_.Find("c")->number, revision, std::move(done));
    });
  };
  ASSERT_TRUE(note(state.policy_revision).ok());
  EXPECT_FALSE(feeds_.Find("c")->feed.needs_revive_walk());
  ASSERT_TRUE(feeds_.SetFeed("c", FeedSettings{.max_age_seconds = 60}).ok());
  EXPECT_FALSE(feeds_.Find("c")->feed.needs_revive_walk());
  SetTtl("c", 80);
  ASSERT_TRUE(note(state.policy_revision).ok());
  EXPECT_TRUE(feeds_.Find("c")->feed.needs_revive_walk()) << "of an earlier policy";
}

TEST_F(FeedTest, TheEndOfADoubtIsAnnounced) {
  feeds_.Create("c", 60);
  feeds_.Create("d", 60);
  feeds_.storage().Create("off", 60);
  SidecarState& state = feeds_.storage()->sidecar_state();
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                state.SaveDataDoubt({"lost", "", ""}, std::move(done));
              }).ok());
  const auto clear = [&](const std::string& reason) {
    return Await<absl::Status>([&](auto done) { state.ClearDataDoubt(reason, std::move(done)); });
  };
  ASSERT_TRUE(clear("another").ok());
  EXPECT_THAT(feeds_.Log("c"), IsEmpty());
  ASSERT_TRUE(clear("lost").ok());
  EXPECT_THAT(feeds_.Log("c"), ElementsAre("RESYNC"));
  EXPECT_THAT(feeds_.Log("d"), ElementsAre("RESYNC"));
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                feeds_.feed().Resync(feeds_.Find("d")->number, std::move(done));
              }).ok());
  EXPECT_THAT(feeds_.Log("c"), ElementsAre("RESYNC"));
  EXPECT_THAT(feeds_.Log("d"), ElementsAre("RESYNC", "RESYNC"));
}

TEST_F(FeedTest, SettingsAndStateSurviveARestart) {
  FeedSettings settings;
  settings.max_age_seconds = 61;
  settings.max_bytes = FeedSettings::kMinMaxBytes + 1;
  settings.notice_seconds = 5;
  feeds_.Create("c", 60, settings);
  Track("c", "a", kT - 1000);
  SetTtl("c", 70);
  const ContainerPtr before = feeds_.Find("c");
  feeds_.Reopen();
  EXPECT_EQ(feeds_.Find("c")->settings.feed, settings);
  EXPECT_EQ(feeds_.Find("c")->feed, before->feed);
}

TEST_F(FeedTest, SettingsOutOfRangeAreRefused) {
  struct Case {
    FeedSettings settings;
    std::string names;
  };
  for (const Case& test : {Case{{.max_age_seconds = 59}, "feed.max_age is 59 s: must be 60 to"},
                           Case{{.max_bytes = 1}, "feed.max_bytes is 1 bytes: must be 1048576 to"},
                           Case{{.notice_seconds = 0}, "feed.notice is 0 s: must be 1 to"}}) {
    EXPECT_THAT(ValidateFeedSettings(test.settings).message(), testing::HasSubstr(test.names));
  }
  EXPECT_TRUE(ValidateFeedSettings({.notice_seconds = 1}).ok());
}

}  // namespace
}  // namespace ttl
