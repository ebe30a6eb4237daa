#include "service/storage/upkeep/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

using ::testing::IsEmpty;

constexpr int kVerifiedItems = 3000;

StorageOptions ReadingFilesOnly() {
  StorageOptions options;
  options.block_cache_bytes = 0;
  return options;
}

void TrackVerifiedItems(StorageForTest& storage) {
  storage.Create("c", 60);
  std::vector<ItemReport> reports;
  for (int i = 0; i < kVerifiedItems; ++i)
    reports.push_back({KeyOf(absl::StrCat(i)), {{kT, {}}, "", {}, 0}});
  ASSERT_TRUE(storage.Track("c", std::move(reports)).ok());
  storage.Reopen();  // so that the items are in a table
}

void DeleteAllItems(StorageForTest& storage) {
  std::vector<DeleteReport> gone;
  for (const DueItem& item : storage.Scan("c", kT + 60, kVerifiedItems).due) {
    gone.emplace_back();
    gone.back().key = item.key;
    gone.back().generation = item.item.generation;
  }
  EXPECT_EQ(storage.Apply("c", std::move(gone)), kVerifiedItems);
}

struct Verification {
  int pauses = 0;
  std::vector<std::string> problems;
};

Verification Verify(StorageForTest& storage) {
  Verification result;
  const auto verifier = storage->StartVerification();
  for (auto next = verifier->Step(); next != Verifier::Next::kEnd; next = verifier->Step()) {
    if (next != Verifier::Next::kPause) continue;
    ++result.pauses;
    absl::SleepFor(Verifier::kPause);
  }
  result.problems = verifier->TakeProblems();
  return result;
}

TEST(VerifierTest, WhatIsDeletedMeanwhileIsWaitedForByNobody) {
  StorageForTest storage(ReadingFilesOnly());
  ASSERT_NO_FATAL_FAILURE(TrackVerifiedItems(storage));
  // Right after the first step has begun to read, from a state that has all of them.
  storage.env().BeforeNextRead([&] { DeleteAllItems(storage); });
  const Verification verification = Verify(storage);
  EXPECT_THAT(verification.problems, IsEmpty());
  EXPECT_EQ(verification.pauses, 0);
  EXPECT_FALSE(storage.FindItem("c", "0").has_value());
}

}  // namespace
}  // namespace ttl
