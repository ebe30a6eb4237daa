#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/testing/rpc_proto.h"
#include "tests/testing/rpc_sidecar.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using ItemStub = v1::ItemService::Stub;

class ItemServiceTest : public testing::Test {
 protected:
  ItemServiceTest() { EXPECT_THAT(sidecar_.Create(-1), IsOk()); }

  absl::StatusOr<v1::TrackItemsResponse> Track(const std::string& text) {
    return Call(sidecar_.items(), &ItemStub::TrackItems, Proto<v1::TrackItemsRequest>(text));
  }
  absl::StatusOr<v1::UntrackItemsResponse> Untrack(const std::string& text) {
    return Call(sidecar_.items(), &ItemStub::UntrackItems, Proto<v1::UntrackItemsRequest>(text));
  }
  absl::StatusOr<v1::CheckVisibilityResponse> Check(const std::string& text) {
    return Call(sidecar_.items(), &ItemStub::CheckVisibility,
                Proto<v1::CheckVisibilityRequest>(text));
  }
  absl::StatusOr<v1::ListItemsResponse> List(const std::string& text) {
    return Call(sidecar_.items(), &ItemStub::ListItems, Proto<v1::ListItemsRequest>(text));
  }
  // An item of the partition "p" that was written `ago` seconds before now.
  std::string Item(const std::string& id, int64_t ago, const std::string& more = "") {
    return absl::StrCat(" items { partition_key: 'p' id: '", id, "' ts: ", sidecar_.Now() - ago,
                        " ", more, " }");
  }
  std::string CheckOf(const std::string& id, const std::string& more = "") {
    return absl::StrCat(" checks { partition_key: 'p' id: '", id, "' ", more, " }");
  }

  RpcSidecar sidecar_;
};

// The machine was suspended for days without its boot clock noticing: until an operator has
// accepted the wall clock, which stamps what is written, nobody knows which one is right.
TEST_F(ItemServiceTest, WritesAreReportedAlsoWhileTheClockIsSuspect) {
  ASSERT_THAT(sidecar_.Track("a", sidecar_.Now(), 3600), IsOk());
  sidecar_.clock().StepWall(absl::Hours(72));
  sidecar_.guarded_clock().Tick();
  ASSERT_TRUE(sidecar_.guarded_clock().Status().suspect);
  EXPECT_THAT(sidecar_.Track("a", sidecar_.Now(), 3600), IsOk());
  EXPECT_EQ(sidecar_.Track("b", sidecar_.Now() + 2 * 86400).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(sidecar_.Track("b", sidecar_.Now() * 1000).status().code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(sidecar_.guarded_clock().AcceptWall().ok());
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_VISIBLE);
  EXPECT_THAT(Untrack(absl::StrCat("container: 'c'", Item("a", 0))), IsOk());
}

TEST_F(ItemServiceTest, WhatIsReportedIsWhatIsThere) {
  ASSERT_THAT(Track("container: 'c'" + Item("a", 5,
                                            "ttl: 60 etag: '\\001e' sequence: 18446744073709551615 "
                                            "size_bytes: 1024")),
              IsOk());
  const auto item = sidecar_.Get("a");
  ASSERT_THAT(item, IsOk());
  EXPECT_EQ(item->item().ts(), sidecar_.Now() - 5);
  EXPECT_EQ(item->item().ttl(), 60);
  EXPECT_EQ(item->item().etag(), "\001e");
  EXPECT_EQ(item->item().sequence(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(item->item().size_bytes(), 1024);
  EXPECT_EQ(item->effective_ttl(), 60);
  EXPECT_EQ(item->ttl_source(), v1::TTL_SOURCE_ITEM);
  EXPECT_EQ(item->remaining_seconds(), 55);
  EXPECT_FALSE(item->expired());
}

TEST_F(ItemServiceTest, AnUnknownContainerIsNotFoundEverywhere) {
  const auto not_found = StatusIs(absl::StatusCode::kNotFound, testing::HasSubstr("\"nowhere\""));
  EXPECT_THAT(Track("container: 'nowhere'" + Item("a", 0)), not_found);
  EXPECT_THAT(Untrack("container: 'nowhere'" + Item("a", 0)), not_found);
  EXPECT_THAT(Check("container: 'nowhere'" + CheckOf("a")), not_found);
  EXPECT_THAT(List("container: 'nowhere'"), not_found);
  EXPECT_THAT(Call(sidecar_.items(), &ItemStub::GetItem,
                   Proto<v1::GetItemRequest>("container: 'nowhere' id: 'a'")),
              not_found);
}

TEST_F(ItemServiceTest, OneBadEntryRefusesTheCallAndNothingIsApplied) {
  EXPECT_THAT(Track("container: 'c'" + Item("a", 0) + Item("b", 0, "ttl: 0") + Item("c", 0)),
              IsInvalid("items[1].ttl is 0"));
  EXPECT_THAT(sidecar_.List(true), IsEmpty());
  ASSERT_THAT(Track("container: 'c'" + Item("a", 0)), IsOk());
  EXPECT_THAT(Untrack("container: 'c'" + Item("a", 0) + " items { id: 'b' }"),
              IsInvalid("items[1].ts is 0"));
  EXPECT_THAT(sidecar_.List(true), ElementsAre("a"));
}

TEST_F(ItemServiceTest, ResultsComeInTheOrderOfTheRequest) {
  ASSERT_THAT(Track("container: 'c'" + Item("a", 10)), IsOk());
  const auto tracked = Track("container: 'c'" + Item("b", 0) + Item("a", 11) + Item("a", 10) +
                             Item("c", 0) + Item("c", 5));
  ASSERT_THAT(tracked, IsOk());
  EXPECT_THAT(tracked->results(), ElementsAre(v1::TRACK_RESULT_TRACKED, v1::TRACK_RESULT_STALE,
                                              v1::TRACK_RESULT_TRACKED, v1::TRACK_RESULT_TRACKED,
                                              v1::TRACK_RESULT_STALE));
  const auto untracked = Untrack("container: 'c'" + Item("gone", 0) + Item("a", 11) +
                                 Item("a", 10) + Item("a", 10) + Item("b", 0));
  ASSERT_THAT(untracked, IsOk());
  EXPECT_THAT(untracked->results(),
              ElementsAre(v1::UNTRACK_RESULT_NOT_TRACKED, v1::UNTRACK_RESULT_STALE,
                          v1::UNTRACK_RESULT_UNTRACKED, v1::UNTRACK_RESULT_NOT_TRACKED,
                          v1::UNTRACK_RESULT_UNTRACKED));
}

TEST_F(ItemServiceTest, SequencesOrderReportsWhereBothHaveOne) {
  ASSERT_THAT(Track("container: 'c'" + Item("a", 10, "sequence: 5 ttl: 100")), IsOk());
  EXPECT_THAT(Track("container: 'c'" + Item("a", 0, "sequence: 4"))->results(),
              ElementsAre(v1::TRACK_RESULT_STALE));
  EXPECT_THAT(Track("container: 'c'" + Item("a", 20, "sequence: 6 ttl: 200"))->results(),
              ElementsAre(v1::TRACK_RESULT_TRACKED));
  EXPECT_EQ(sidecar_.Get("a")->effective_ttl(), 200);
}

TEST_F(ItemServiceTest, AnswersAreDurable) {
  ASSERT_THAT(Track("container: 'c'" + Item("a", 0, "ttl: 60") + Item("b", 0, "ttl: 60")), IsOk());
  ASSERT_THAT(Untrack("container: 'c'" + Item("b", 0)), IsOk());
  sidecar_.Restart();
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_VISIBLE);
  EXPECT_EQ(sidecar_.Check("b"), v1::VISIBILITY_UNTRACKED);
}

TEST_F(ItemServiceTest, ChecksAreAnsweredInOrderWithTheInstantTheyWereJudgedAt) {
  ASSERT_THAT(Track("container: 'c'" + Item("live", 0, "ttl: 60") + Item("dead", 60, "ttl: 60")),
              IsOk());
  sidecar_.clock().Advance(absl::Milliseconds(250));
  const auto answer = Check("container: 'c'" + CheckOf("dead") + CheckOf("gone") + CheckOf("live"));
  ASSERT_THAT(answer, IsOk());
  EXPECT_THAT(answer->visibilities(), ElementsAre(v1::VISIBILITY_EXPIRED, v1::VISIBILITY_UNTRACKED,
                                                  v1::VISIBILITY_VISIBLE));
  EXPECT_THAT(answer->expire_times(), ElementsAre(sidecar_.Now(), 0, sidecar_.Now() + 60));
  EXPECT_EQ(answer->judged_at().seconds(), sidecar_.Now());
  EXPECT_EQ(answer->judged_at().nanos(), 250'000'000);
}

TEST_F(ItemServiceTest, CarriedStateIsJudgedTrackedOrNot) {
  ASSERT_THAT(Track("container: 'c'" + Item("a", 20, "ttl: 10")), IsOk());
  const std::string now = absl::StrCat("ts: ", sidecar_.Now(), " ttl: 10");
  const std::string long_ago = absl::StrCat("ts: ", sidecar_.Now() - 50, " ttl: 100");
  const auto answer = Check("container: 'c'" + CheckOf("a", now) + CheckOf("a", long_ago) +
                            CheckOf("b", now) + CheckOf("b", long_ago));
  ASSERT_THAT(answer, IsOk());
  EXPECT_THAT(answer->visibilities(), ElementsAre(v1::VISIBILITY_VISIBLE, v1::VISIBILITY_EXPIRED,
                                                  v1::VISIBILITY_VISIBLE, v1::VISIBILITY_VISIBLE));
  EXPECT_EQ(sidecar_.Check("b"), v1::VISIBILITY_UNTRACKED);
}

TEST_F(ItemServiceTest, ImpossibleCarriedStateIsVisibleAndCountedInTheStatus) {
  const auto answer = Check("container: 'c'" + CheckOf("a", "ts: 0 ttl: 5") +
                            CheckOf("a", "ts: 1000 ttl: 0") + CheckOf("a", "ts: 1000 ttl: 5"));
  ASSERT_THAT(answer, IsOk());
  EXPECT_THAT(answer->visibilities(),
              ElementsAre(v1::VISIBILITY_VISIBLE, v1::VISIBILITY_VISIBLE, v1::VISIBILITY_EXPIRED));
  const auto status = Call(sidecar_.expiry(), &v1::ExpiryService::Stub::GetExpiryStatus,
                           v1::GetExpiryStatusRequest());
  EXPECT_EQ(status->sidecar().impossible_checks(), 2);
}

TEST_F(ItemServiceTest, TenThousandChecksInOneCall) {
  v1::CheckVisibilityRequest request;
  request.set_container("c");
  for (int i = 0; i < 10000; ++i) request.add_checks()->set_id(absl::StrCat(i));
  const auto answer = Call(sidecar_.items(), &ItemStub::CheckVisibility, request);
  ASSERT_THAT(answer, IsOk());
  EXPECT_THAT(answer->visibilities(), SizeIs(10000));
  request.add_checks();
  EXPECT_THAT(Call(sidecar_.items(), &ItemStub::CheckVisibility, request), IsInvalid("10001"));
  request.clear_checks();
  EXPECT_THAT(Call(sidecar_.items(), &ItemStub::CheckVisibility, request), IsInvalid("0 entries"));
}

TEST_F(ItemServiceTest, KeysTooLongAreRefusedOnEveryPath) {
  const std::string id(1024, 'i');
  EXPECT_THAT(Track("container: 'c'" + Item(id, 0)), IsInvalid("items[0].id", "1024 bytes"));
  EXPECT_THAT(Untrack("container: 'c'" + Item(id, 0)), IsInvalid("items[0].id"));
  EXPECT_THAT(Check("container: 'c'" + CheckOf("a") + CheckOf(id)), IsInvalid("checks[1].id"));
  EXPECT_THAT(sidecar_.Get(id), IsInvalid("id is "));
}

TEST_F(ItemServiceTest, ListsInKeyOrderPageByPage) {
  std::string items;
  for (const char* key :
       {"partition_key: 'b' id: '1'", "partition_key: 'aa' id: '0'", "partition_key: 'b' id: '0'",
        "partition_key: 'a' id: '2'", "partition_key: '' id: '9'"}) {
    absl::StrAppend(&items, " items { ts: ", sidecar_.Now(), " ", key, " }");
  }
  ASSERT_THAT(Track("container: 'c'" + items), IsOk());
  std::vector<std::string> listed;
  std::string token;
  int pages = 0;
  do {
    const auto page = List(absl::StrCat("container: 'c' page_size: 2 page_token: '", token, "'"));
    ASSERT_THAT(page, IsOk());
    for (const auto& view : page->items()) {
      listed.push_back(view.item().partition_key() + "/" + view.item().id());
    }
    token = page->next_page_token();
    ++pages;
  } while (!token.empty());
  EXPECT_THAT(listed, ElementsAre("/9", "a/2", "b/0", "b/1", "aa/0"));
  EXPECT_EQ(pages, 3);
  EXPECT_THAT(List("container: 'c' page_token: '!'"), IsInvalid("page_token"));
  EXPECT_THAT(List("container: 'c' page_size: -7"), IsInvalid("page_size is -7"));
}

// Full-length keys: more than gRPC's default of 4 MiB in all.
// Field report B97.
TEST_F(ItemServiceTest, ALongListIsReturnedInPagesThatFitAMessage) {
  std::map<std::string, int> seen;
  for (int call = 0; call < 3; ++call) {
    v1::TrackItemsRequest request;
    request.set_container("c");
    for (int i = 0; i < 500; ++i) {
      v1::Item& item = *request.add_items();
      item.set_partition_key(std::string(2048, 'p'));
      item.set_id(absl::StrCat(call, "-", i, "-", std::string(1000, 'i')));
      item.set_ts(sidecar_.Now());
      item.set_size_bytes(int64_t{5} << 20);
    }
    ASSERT_THAT(Call(sidecar_.items(), &ItemStub::TrackItems, request), IsOk());
  }
  v1::ListItemsRequest request;
  request.set_container("c");
  request.set_page_size(1000);
  do {
    const auto page = Call(sidecar_.items(), &ItemStub::ListItems, request);
    ASSERT_THAT(page, IsOk());
    EXPECT_LT(page->ByteSizeLong(), size_t{2} << 20);
    for (const auto& view : page->items()) ++seen[view.item().id()];
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  EXPECT_THAT(seen, SizeIs(1500));
  EXPECT_THAT(seen, testing::Each(testing::Pair(testing::_, 1)));
}

TEST_F(ItemServiceTest, WhatIsTrackedIsShownInDoubtTooAndSaidToBe) {
  ASSERT_THAT(Track("container: 'c'" + Item("a", 0, "ttl: 60") + Item("old", 90, "ttl: 60")),
              IsOk());
  const auto get = [this](const std::string& id) {
    return Call(sidecar_.items(), &ItemStub::GetItem,
                Proto<v1::GetItemRequest>(
                    absl::StrCat("container: 'c' partition_key: 'p' id: '", id, "'")));
  };
  for (const std::string doubt : {"", "restored from a backup", ""}) {
    sidecar_.storage()->data_trust().Doubt(doubt);
    const auto found = get("a");
    ASSERT_THAT(found, IsOk());
    EXPECT_EQ(found->item().item().id(), "a");
    EXPECT_EQ(found->data_in_doubt(), !doubt.empty());
    const auto listed = List("container: 'c'");
    ASSERT_THAT(listed, IsOk());
    EXPECT_THAT(listed->items(), SizeIs(1));
    EXPECT_EQ(listed->data_in_doubt(), !doubt.empty());
    // One that is not tracked, and one that expired as far as is known.
    for (const std::string id : {"b", "old"}) {
      EXPECT_THAT(get(id), StatusIs(absl::StatusCode::kNotFound,
                                    doubt.empty() ? EndsWith("does not exist")
                                                  : EndsWith("may be incomplete: " + doubt)));
    }
  }
}

TEST_F(ItemServiceTest, ChecksGoOnWhileStorageRefusesWrites) {
  ASSERT_THAT(Track("container: 'c'" + Item("a", 0, "ttl: 60")), IsOk());
  sidecar_.storage().env().FailWrites(true);
  EXPECT_THAT(Track("container: 'c'" + Item("b", 0)), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Untrack("container: 'c'" + Item("a", 0)), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(sidecar_.Check("a"), v1::VISIBILITY_VISIBLE);
  EXPECT_THAT(sidecar_.List(), ElementsAre("a"));
  sidecar_.storage().env().FailWrites(false);
}

TEST(ItemServiceLimitsTest, AFullQueueSaysWhenToRetry) {
  RpcSidecar::Options options;
  options.storage.max_queued_writes = 0;
  RpcSidecar sidecar(options);
  ASSERT_THAT(sidecar.Create(-1), IsOk());
  grpc::ClientContext context;
  EXPECT_THAT(Call(sidecar.items(), &ItemStub::TrackItems,
                   Proto<v1::TrackItemsRequest>("container: 'c' items { ts: 1000 }"), &context),
              StatusIs(absl::StatusCode::kResourceExhausted));
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto pushback = trailers.find("grpc-retry-pushback-ms");
  ASSERT_NE(pushback, trailers.end());
  EXPECT_EQ(pushback->second, "100");
}

}  // namespace
}  // namespace ttl
