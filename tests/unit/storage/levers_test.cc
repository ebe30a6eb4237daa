#include "service/storage/levers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ttl
