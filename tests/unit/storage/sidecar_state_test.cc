#include "service/storage/sidecar_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

// Calls a method that answers with a status and waits for it.
template <typename Start>
absl::Status Wait(Start start) {
  return Await<absl::Status>(start);
}

TEST(SidecarStateTest, TheDeleteLimitIsAbsentUnlimitedOrANumberAlsoAfterReopening) {
  StorageForTest storage;
  EXPECT_EQ(*storage->sidecar_state().LoadDeleteLimit(), std::nullopt);
  for (const StoredDeleteLimit& limit :
       {StoredDeleteLimit{0.5}, StoredDeleteLimit{std::nullopt}, StoredDeleteLimit{0}}) {
    ASSERT_TRUE(Wait([&](auto done) {
                  storage->sidecar_state().SaveDeleteLimit(limit, std::move(done));
                }).ok());
    storage.Reopen();
    EXPECT_EQ(*storage->sidecar_state().LoadDeleteLimit(), limit);
  }
  ASSERT_TRUE(
      Wait([&](auto done) { storage->sidecar_state().ClearDeleteLimit(std::move(done)); }).ok());
  storage.Reopen();
  EXPECT_EQ(*storage->sidecar_state().LoadDeleteLimit(), std::nullopt);
}

TEST(SidecarStateTest, ConfirmingTheStoreKeepsItsIdAndEndsTheDoubtInOneWrite) {
  StorageForTest storage;
  SidecarState* state = &storage->sidecar_state();
  EXPECT_EQ(*state->LoadStoreDoubt(), std::nullopt);
  ASSERT_TRUE(Wait([&](auto done) { state->SaveStoreId("old", std::move(done)); }).ok());
  ASSERT_TRUE(Wait([&](auto done) {
                state->SaveStoreDoubt("its store_id changed", std::move(done));
              }).ok());
  ASSERT_TRUE(Wait([&](auto done) { state->SaveOtherStoreId("new", std::move(done)); }).ok());
  storage.Reopen();
  state = &storage->sidecar_state();
  EXPECT_EQ(*state->LoadStoreDoubt(), "its store_id changed");
  EXPECT_EQ(*state->LoadStoreId(), "old");
  EXPECT_EQ(*state->LoadOtherStoreId(), "new");

  const auto before = storage->Counts();
  const auto doubt = Await<absl::StatusOr<DataDoubt>>(
      [&](auto done) { state->ConfirmStore("new", std::move(done)); });
  ASSERT_TRUE(doubt.ok()) << doubt.status();
  EXPECT_EQ(doubt->store_epoch, 1);
  EXPECT_EQ(storage->Counts().syncs - before.syncs, 1);
  storage.Reopen();
  EXPECT_EQ(*storage->sidecar_state().LoadStoreDoubt(), std::nullopt);
  EXPECT_EQ(*storage->sidecar_state().LoadOtherStoreId(), std::nullopt);
  EXPECT_EQ(*storage->sidecar_state().LoadStoreId(), "new");
  EXPECT_THAT(*storage->sidecar_state().LoadDataDoubt(), testing::Optional(*doubt));
  EXPECT_TRUE(storage->data_trust().in_doubt());
}

}  // namespace
}  // namespace ttl
