// A store that may be the wrong one.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

// An operator's word.
void Confirm(SweepHarness& h, const std::string& store_id) {
  ASSERT_TRUE(Await<absl::Status>([&](auto done) {
                h.levers->ConfirmStore(store_id, std::move(done));
              }).ok());
}

// A reconciliation is through.
void EndDataDoubt(SweepHarness& h) {
  const std::string doubt = h.storage->data_trust().doubt();
  ASSERT_TRUE(h.levers->EndRebuild(doubt).ok());
  ASSERT_FALSE(h.storage->data_trust().in_doubt());
}

// Items that are tracked, and that the store does not have.
void TrackMissing(SweepHarness& h, int64_t count) {
  h.WriteMany("c", "missing", count, kStart - 1000, 10);
  for (int64_t i = 0; i < count; ++i) h.store.Erase("c", KeyOf(absl::StrFormat("missing%05d", i)));
}

TEST(SweeperDoubtTest, AnEmptyReplicaDoesNotEmptyTheIndex) {
  SweeperOptions options;
  options.max_calls_under_way = 1;
  SweepHarness h(options);
  h.storage.Create("c", -1);
  TrackMissing(h, 5000);
  h.SweepFor(absl::Minutes(5));
  EXPECT_EQ(h.TallyOf("c").not_found, 1000);
  EXPECT_EQ(h.storage->tallies().Tracked(h.storage.Find("c")->number).items, 4500)
      << "the batch that completes the burst is not believed";
  EXPECT_GE(h.storage.DueIds("c", kStart + 300).size(), 1000u);  // the most it lists
  EXPECT_TRUE(absl::StrContains(h.published.Store().unconfirmed, "NOT_FOUND"));
  EXPECT_TRUE(h.storage.FindItem("c", "missing04999").has_value());
}

TEST(SweeperDoubtTest, TheDoubtSurvivesARestartAndEndsWithAnOperatorsWord) {
  SweeperOptions options;
  options.not_found_burst_items = 100;
  options.batch_items = 10;
  options.max_calls_under_way = 1;
  SweepHarness h(options);
  h.storage.Create("c", -1);
  TrackMissing(h, 400);
  h.SweepFor(absl::Seconds(10));
  const int64_t sent = h.TallyOf("c").sent;
  h.Restart();
  h.SweepFor(absl::Minutes(10));
  EXPECT_EQ(h.TallyOf("c").sent, sent);
  Confirm(h, "fake-store");
  h.RestartSweeper(options);
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(h.TallyOf("c").sent, sent) << "the data is in doubt";
  EndDataDoubt(h);
  // However many the store does not have: they are of the time before.
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(h.published.Store().unconfirmed, "");
  EXPECT_TRUE(h.storage.DueIds("c", kStart + 1000).empty());
}

TEST(SweeperDoubtTest, ADeleteNowAndThenShowsThatTheStoreIsRight) {
  SweeperOptions options;
  options.not_found_burst_items = 20;
  options.batch_items = 10;
  options.max_calls_under_way = 1;
  SweepHarness h(options);
  h.storage.Create("c", -1);
  for (int i = 0; i < 300; ++i) {
    const std::string id = absl::StrFormat("i%05d", i);
    h.Write("c", id, kStart - 1000 + i, 10);
    if (i % 15 != 0) h.store.Erase("c", KeyOf(id));
  }
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(h.published.Store().unconfirmed, "");
  EXPECT_EQ(h.TallyOf("c").not_found, 280);
  EXPECT_TRUE(h.storage.DueIds("c", kStart).empty());
}

// P3: after kill -9 the store answers NOT_FOUND for what was under way.
TEST(SweeperDoubtTest, WhatARunBeforeMayHaveDeletedIsNoSignOfAWrongStore) {
  SweeperOptions options;
  options.not_found_burst_items = 20;
  options.batch_items = 100;
  SweepHarness h(options);
  h.storage.Create("c", -1);
  h.SweepNow();  // the run before
  h.Restart();
  TrackMissing(h, 400);
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(h.published.Store().unconfirmed, "");
  EXPECT_TRUE(h.storage.DueIds("c", kStart).empty());
}

// The application deletes what has expired, too, and the store reports that before it answers.
TEST(SweeperDoubtTest, WhatTheStoreHasReportedAsGoneIsNoSignOfAWrongStore) {
  SweeperOptions options;
  options.not_found_burst_items = 20;
  options.batch_items = 100;
  SweepHarness h(options);
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 400, kStart - 1000, 10);
  h.store.SetAfterDelete([&](const v1::DeleteItemsRequest& request, auto& response) {
    for (int i = 0; i < request.items_size(); ++i) {
      h.storage.UntrackOne("c", request.items(i).id(), kStart - 1000);
      response.mutable_results(i)->set_outcome(v1::DELETE_OUTCOME_NOT_FOUND);
    }
    return grpc::Status::OK;
  });
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(h.published.Store().unconfirmed, "");
  EXPECT_EQ(h.TallyOf("c").not_found, 400);
  EXPECT_TRUE(h.storage.DueIds("c", kStart).empty());
}

TEST(SweeperDoubtTest, LostAnswersAreNoSignOfAWrongStore) {
  SweeperOptions options;
  options.not_found_burst_items = 20;
  options.batch_items = 100;
  options.max_calls_under_way = 1;
  SweepHarness h(options);
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 1000, kStart - 1000, 10);
  h.store.SetAfterDelete([](auto&, auto&) {
    return grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "applied, but the answer is lost");
  });
  h.SweepFor(absl::Minutes(2));
  h.store.SetAfterDelete(nullptr);
  h.SweepFor(absl::Hours(1));
  EXPECT_EQ(h.published.Store().unconfirmed, "");
  EXPECT_TRUE(h.storage.DueIds("c", kStart).empty());
}

// The store has deleted them, but that could not be kept.
TEST(SweeperDoubtTest, LostOutcomesAreNoSignOfAWrongStore) {
  SweeperOptions options;
  options.not_found_burst_items = 20;
  options.batch_items = 10;
  options.max_calls_under_way = 1;
  SweepHarness h(options);
  h.storage.Create("c", -1);
  h.WriteMany("c", "due", 10, kStart - 1000, 10);
  h.store.SetAfterDelete([&](auto&, auto&) {
    h.storage.env().FailWrites(true);
    return grpc::Status::OK;
  });
  for (int failure = 0; failure < 6; ++failure) {
    h.SweepFor(absl::Seconds(10));
    h.storage.env().FailWrites(false);
    h.storage.FinishHousekeeping();
  }
  EXPECT_EQ(h.TallyOf("c").deleted, 10);
  EXPECT_EQ(h.TallyOf("c").not_found, 50);
  h.store.SetAfterDelete(nullptr);
  h.SweepFor(absl::Seconds(10));
  EXPECT_EQ(h.published.Store().unconfirmed, "");
  EXPECT_TRUE(h.storage.DueIds("c", kStart).empty());
}

// Another store takes the place of the right one, without a break in the connection.
TEST(SweeperDoubtTest, AnotherStoreRefusesTheFirstBatchAndGetsNoOther) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.storage.Create("d", -1);
  h.WriteMany("c", "first", 10, kStart - 1000, 10);
  h.SweepNow();
  EXPECT_EQ(h.store.ReceivedDeletes().at(0).request.store_id(), "fake-store");
  h.store.SetStoreId("another");
  h.WriteMany("c", "due", 100, kStart - 1000, 10);
  h.WriteMany("d", "due", 100, kStart - 1000, 10);
  h.SweepFor(absl::Minutes(2));
  EXPECT_EQ(h.store.ReceivedDeletes().size(), 2u);
  EXPECT_EQ(h.store.Count("c"), 100);
  EXPECT_TRUE(absl::StrContains(h.published.Store().unconfirmed, "another"));
  h.store.SetStoreId("fake-store");
  h.SweepFor(absl::Minutes(1));
  EXPECT_EQ(h.store.CountAll(), 0);
}

TEST(SweeperDoubtTest, AnotherStoreIsSentNothingUntilItIsConfirmed) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Write("c", "a", kStart - 1000, 10);
  h.SweepNow();
  h.store.SetStoreId("restored-elsewhere");
  h.Restart();
  h.Write("c", "b", kStart - 1000, 10);
  h.SweepFor(absl::Minutes(10));
  EXPECT_EQ(h.store.Count("c"), 1);
  EXPECT_TRUE(absl::StrContains(h.published.Store().unconfirmed, "restored-elsewhere"));
  EXPECT_EQ(h.published.Store().store_id, "restored-elsewhere");
  Confirm(h, "restored-elsewhere");
  h.SweepFor(absl::Minutes(1));
  EXPECT_EQ(h.store.Count("c"), 1) << "the data is in doubt";
  EndDataDoubt(h);
  h.SweepFor(absl::Seconds(2));
  EXPECT_EQ(h.store.Count("c"), 0);
  EXPECT_EQ(h.published.Store().unconfirmed, "");
  h.Restart();
  h.Write("c", "d", kStart - 1000, 10);
  h.SweepFor(absl::Seconds(2));
  EXPECT_EQ(h.store.Count("c"), 0);
}

// Then nobody is judged by what is tracked either.
TEST(SweeperDoubtTest, AnotherStoreHasToBeConfirmedUntilTheOwnOneIsBack) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Step();
  EXPECT_FALSE(h.levers->store_trust().is_unconfirmed());
  h.store.SetStoreId("another store");
  h.SweepFor(absl::Minutes(1));
  EXPECT_TRUE(h.levers->store_trust().is_unconfirmed());
  h.store.SetStoreId("fake-store");
  h.SweepFor(absl::Minutes(1));
  EXPECT_FALSE(h.levers->store_trust().is_unconfirmed());
}

TEST(SweeperDoubtTest, AnotherStoreHasToBeConfirmedAlsoByTheNextRunBeforeItHasAnswered) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Step();
  h.store.SetStoreId("another store");
  h.SweepFor(absl::Minutes(1));
  h.Restart();
  EXPECT_TRUE(h.levers->store_trust().is_unconfirmed());
  h.store.SetStoreId("fake-store");
  h.SweepFor(absl::Minutes(1));
  EXPECT_FALSE(h.levers->store_trust().is_unconfirmed());
  h.Restart();
  EXPECT_FALSE(h.levers->store_trust().is_unconfirmed());
  h.store.SetStoreId("another store");
  h.SweepFor(absl::Minutes(1));
  Confirm(h, "another store");
  h.Restart();
  EXPECT_FALSE(h.levers->store_trust().is_unconfirmed());
}

// Otherwise status and metrics would tell of the store before.
TEST(SweeperDoubtTest, AnotherStoreIsToldOfAlsoIfThatCannotBeWritten) {
  SweepHarness h;
  h.storage.Create("c", -1);
  h.Step();
  h.storage.env().FailWrites(true);
  h.store.SetStoreId("another store");
  h.SweepFor(absl::Minutes(1));
  EXPECT_TRUE(h.levers->store_trust().is_unconfirmed());
  EXPECT_EQ(h.published.Store().store_id, "another store");
  EXPECT_NE(h.published.Store().unconfirmed, "");
  h.store.SetStoreId("fake-store");
  h.SweepFor(absl::Minutes(1));
  EXPECT_FALSE(h.levers->store_trust().is_unconfirmed());
}

}  // namespace
}  // namespace ttl
