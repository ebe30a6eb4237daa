#include "service/storage/levers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "service/base/done.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

class LeversTest : public testing::Test {
 protected:
  void SetUp() override { Load(); }

  // Loads what is stored, as the next run of the process does.
  void Load() {
    levers_ = Levers::Load(*storage_, {.default_limit_per_second = 1000,
                                       .on_change = [this] { ++changes_; },
                                       .on_store_confirmed = [this] { ++confirmed_; }})
                  .value();
  }

  static absl::Status Wait(absl::FunctionRef<void(DoneStatus)> change) {
    return Await<absl::Status>([&](auto done) { change(std::move(done)); });
  }

  using Touched = std::future<absl::StatusOr<TouchedItems>>;

  Touched BeginTouch(const std::string& id) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<TouchedItems>>>();
    storage_->touches().Touch(
        storage_.Find("c")->number, {{KeyOf(id)}}, [] { return SoundTime(kTouchedAt); },
        [promise](auto touched) { promise->set_value(std::move(touched)); });
    return promise->get_future();
  }

  // A later commit is answered after what is answered at once.
  bool IsAnswered(Touched& touched) {
    EXPECT_TRUE(
        storage_.Track("c", {{KeyOf("another"), {{kTouchedAt}, "", std::nullopt, 0}}}).ok());
    return touched.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  static constexpr int64_t kTouchedAt = 1'700'000'000;

  StorageForTest storage_;
  std::unique_ptr<Levers> levers_;
  int changes_ = 0;
  int confirmed_ = 0;
};

TEST_F(LeversTest, ALimitIsKeptUntilItIsReset) {
  EXPECT_EQ(levers_->limit().Get(), 1000);
  for (const std::optional<double> limit :
       {std::optional<double>(0.5), std::optional<double>(0), std::optional<double>()}) {
    ASSERT_TRUE(Wait([&](auto done) { levers_->SetLimit(limit, std::move(done)); }).ok());
    EXPECT_EQ(levers_->limit().Get(), limit);
    Load();
    EXPECT_EQ(levers_->limit().Get(), limit) << "after a restart";
  }
  ASSERT_TRUE(Wait([&](auto done) { levers_->ResetLimit(std::move(done)); }).ok());
  EXPECT_EQ(levers_->limit().Get(), 1000);
  EXPECT_EQ(changes_, 4);
}

TEST_F(LeversTest, WhatCannotBeStoredChangesNothing) {
  ASSERT_TRUE(levers_->TakeFirstStore("ours").ok());
  storage_->data_trust().Doubt("damaged");
  storage_.env().FailWrites(true);
  EXPECT_FALSE(Wait([&](auto done) { levers_->SetLimit(5, std::move(done)); }).ok());
  EXPECT_FALSE(Wait([&](auto done) { levers_->ConfirmStore("other", std::move(done)); }).ok());
  EXPECT_FALSE(Wait([&](auto done) { levers_->TrustData("damaged", std::move(done)); }).ok());
  EXPECT_FALSE(levers_->EndRebuild("damaged").ok());
  EXPECT_FALSE(levers_->TakeFirstStore("other").ok());
  EXPECT_EQ(levers_->limit().Get(), 1000);
  EXPECT_EQ(levers_->store_trust().store_id(), "ours");
  EXPECT_TRUE(storage_->data_trust().in_doubt());
  EXPECT_EQ(changes_, 0);
  storage_.env().FailWrites(false);
}

TEST_F(LeversTest, ADoubtCountsAtOnceAlsoIfItCannotBeStored) {
  ASSERT_TRUE(levers_->TakeFirstStore("ours").ok());
  storage_.env().FailWrites(true);
  EXPECT_FALSE(levers_->DoubtStore("it may be empty").ok());
  EXPECT_EQ(levers_->store_trust().doubt(), "it may be empty");
  EXPECT_FALSE(levers_->MeetStore("another").ok());
  EXPECT_TRUE(levers_->store_trust().is_unconfirmed());
  storage_.env().FailWrites(false);
}

TEST_F(LeversTest, AnotherStoreIsKeptUntilTheRightOneIsBack) {
  ASSERT_TRUE(levers_->TakeFirstStore("ours").ok());
  ASSERT_TRUE(levers_->MeetStore("another").ok());
  Load();
  EXPECT_TRUE(levers_->store_trust().is_unconfirmed());
  ASSERT_TRUE(levers_->MeetStore("ours").ok());
  Load();
  EXPECT_FALSE(levers_->store_trust().is_unconfirmed());
}

TEST_F(LeversTest, AConfirmedStoreIsTrustedAndItsDataInDoubt) {
  ASSERT_TRUE(levers_->TakeFirstStore("ours").ok());
  ASSERT_TRUE(levers_->MeetStore("restored").ok());
  ASSERT_TRUE(levers_->DoubtStore("it may be empty").ok());
  ASSERT_TRUE(Wait([&](auto done) { levers_->ConfirmStore("restored", std::move(done)); }).ok());
  EXPECT_FALSE(levers_->store_trust().is_unconfirmed());
  EXPECT_THAT(storage_->data_trust().doubt(), HasSubstr("confirmation 1"));
  EXPECT_EQ(confirmed_, 1);
  Load();
  EXPECT_FALSE(levers_->store_trust().is_unconfirmed());
  EXPECT_EQ(levers_->store_trust().store_id(), "restored");
}

TEST_F(LeversTest, ADoubtAboutTheDataEndsOnlyIfItIsTheOneNamed) {
  storage_->data_trust().Doubt("confirmed since");
  ASSERT_TRUE(levers_->EndRebuild("damaged").ok());
  EXPECT_TRUE(storage_->data_trust().in_doubt());
  EXPECT_EQ(changes_, 0);
  ASSERT_TRUE(levers_->EndRebuild("confirmed since").ok());
  EXPECT_FALSE(storage_->data_trust().in_doubt());
  EXPECT_EQ(changes_, 1);
}

// Its item may be in flight since before the data was in doubt, and count as touched since.
TEST_F(LeversTest, ATouchWaitsForTheDeletesFromBeforeTheDataWasComplete) {
  storage_.Create("c", 60);
  storage_.AllowTouch("c");
  ASSERT_TRUE(storage_.Track("c", {{KeyOf("a"), {{kTouchedAt}, "", std::nullopt, 0}}}).ok());
  const uint64_t number = storage_.Find("c")->number;
  for (const bool by_operator : {false, true}) {
    SCOPED_TRACE(by_operator);
    storage_->data_trust().Doubt("lost");
    auto before = storage_->delete_gate().TryEnter(number);
    if (by_operator) {
      ASSERT_TRUE(Wait([&](auto done) { levers_->TrustData("lost", std::move(done)); }).ok());
    } else {
      ASSERT_TRUE(levers_->EndRebuild("lost").ok());
    }
    auto touched = BeginTouch("a");
    EXPECT_FALSE(IsAnswered(touched));
    const auto later = storage_->delete_gate().TryEnter(number);
    before.reset();
    EXPECT_EQ(touched.get()->items.at(0).outcome, TouchOutcome::kTouched);
    touched = BeginTouch("a");
    EXPECT_TRUE(IsAnswered(touched)) << "later deletes are judged with its touch";
  }
}

}  // namespace
}  // namespace ttl
