#include "service/rpc/mapping/item_page.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/rpc/mapping/page_token.h"
#include "tests/testing/rpc_matchers.h"
#include "tests/unit/rpc/test_now.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Container TtlOn() {
  Container container;
  container.settings.policy.default_ttl = -1;
  return container;
}

// A sorted list of items, as storage would answer it.
class ItemList {
 public:
  // An item that expires `ttl` seconds after kNowSeconds - 100.
  void Add(const std::string& id, int64_t ttl, size_t partition_key_bytes = 1) {
    TrackedItem item;
    item.version.times = {kNowSeconds - 100, ttl};
    items_.emplace_back(ItemKey{std::string(partition_key_bytes, 'p'), id}, item);
  }
  void AddStateUnknown(const std::string& id) {
    Add(id, 1000);
    items_.back().second.state_unknown = true;
  }

  // Shows the item even if it is expired, as one under a hold.
  void Show(const std::string& id) { shown_expired_.insert(id); }

  v1::ListItemsResponse Page(const std::string& token, size_t page_size,
                             ShownItems shown = ShownItems::kLive) {
    return Page(token, page_size, ItemFilter{.shown = shown});
  }
  v1::ListItemsResponse Page(const std::string& token, size_t page_size, const ItemFilter& filter) {
    v1::ListItemsResponse response;
    const std::optional<ItemPosition> position = ReadItemPageToken(token).value();
    std::optional<ItemKey> after;
    if (position.has_value()) after = position->last;
    EXPECT_THAT(FillItemPage(
                    TtlOn(), [this](const auto& after, size_t limit) { return From(after, limit); },
                    [this](const ItemKey& key) { return shown_expired_.contains(key.id); }, after,
                    page_size, filter, absl::FromUnixSeconds(kNowSeconds), response),
                IsOk());
    return response;
  }

  // The ids of all pages, and how many pages it took.
  std::vector<std::string> AllIds(size_t page_size, ShownItems shown, int* pages = nullptr) {
    std::vector<std::string> ids;
    std::string token;
    int count = 0;
    do {
      const v1::ListItemsResponse page = Page(token, page_size, shown);
      for (const v1::ItemView& view : page.items()) ids.push_back(view.item().id());
      token = page.next_page_token();
      ++count;
    } while (!token.empty());
    if (pages != nullptr) *pages = count;
    return ids;
  }

  size_t examined() const { return examined_; }

 private:
  absl::StatusOr<ItemPage> From(const std::optional<ItemKey>& after, size_t limit) {
    const auto begin = after.has_value()
                           ? std::upper_bound(items_.begin(), items_.end(), *after,
                                              [](const ItemKey& key, const auto& entry) {
                                                return key < entry.first;
                                              })
                           : items_.begin();
    const size_t rest = items_.end() - begin;
    const ItemPage page(begin, begin + std::min(limit, rest));
    examined_ += page.size();
    return page;
  }

  ItemPage items_;
  std::set<std::string> shown_expired_;
  size_t examined_ = 0;
};

std::string Name(int i) { return absl::StrFormat("%06d", i); }

TEST(ItemPageTest, LiveItemsOnlyUnlessExpiredOnesAreAskedFor) {
  ItemList list;
  list.Add("a", 100);  // expires at this very second
  list.Add("b", 101);
  list.Add("c", -1);
  list.Add("d", 1);
  EXPECT_THAT(list.AllIds(10, ShownItems::kLive), ElementsAre("b", "c"));
  EXPECT_THAT(list.AllIds(10, ShownItems::kBoth), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(list.AllIds(10, ShownItems::kExpired), ElementsAre("a", "d"));
}

TEST(ItemPageTest, ExpiredItemsThatAreShownAreAmongTheLiveOnesAndStillExpired) {
  ItemList list;
  list.Add("a", 1);
  list.Add("b", 1000);
  list.Add("c", 1);
  list.AddStateUnknown("d");
  list.Show("c");
  list.Show("d");
  EXPECT_THAT(list.AllIds(10, ShownItems::kLive), ElementsAre("b", "c"));
  EXPECT_THAT(list.AllIds(10, ShownItems::kBoth), ElementsAre("a", "b", "c"));
  EXPECT_THAT(list.AllIds(10, ShownItems::kExpired), ElementsAre("a", "c"));
}

TEST(ItemPageTest, AnItemOfUnknownStateCountsAsUntracked) {
  ItemList list;
  list.Add("a", 1000);
  list.AddStateUnknown("b");
  EXPECT_THAT(list.AllIds(10, ShownItems::kLive), ElementsAre("a"));
  EXPECT_THAT(list.AllIds(10, ShownItems::kBoth), ElementsAre("a"));
}

TEST(ItemPageTest, ARangeOfExpireTimesLeavesOutWhatIsOutside) {
  ItemList list;
  list.Add("at 10", 110);
  list.Add("at 20", 120);
  list.Add("at 30", 130);
  list.Add("never", -1);
  list.Add("expired", 50);
  const auto ids = [&list](const ItemFilter& filter) {
    std::vector<std::string> found;
    const v1::ListItemsResponse page = list.Page("", 10, filter);
    for (const v1::ItemView& view : page.items()) found.push_back(view.item().id());
    return found;
  };
  const int64_t t = kNowSeconds;
  EXPECT_THAT(ids({ShownItems::kLive, t + 20, std::nullopt}), ElementsAre("at 20", "at 30"));
  EXPECT_THAT(ids({ShownItems::kLive, std::nullopt, t + 20}), ElementsAre("at 10"));
  EXPECT_THAT(ids({ShownItems::kLive, t + 10, t + 30}), ElementsAre("at 10", "at 20"));
  EXPECT_THAT(ids({ShownItems::kBoth, std::nullopt, t + 20}), ElementsAre("at 10", "expired"));
  EXPECT_THAT(ids({ShownItems::kBoth, t + 31, std::nullopt}), IsEmpty());
}

TEST(ItemPageTest, ARangeIsCrossedInBoundedSteps) {
  ItemList list;
  for (int i = 0; i < 12000; ++i) list.Add(Name(i), 1000);
  list.Add("z", 2000);
  const ItemFilter filter = {.expire_time_from = kNowSeconds + 1500};
  const v1::ListItemsResponse first = list.Page("", 10, filter);
  EXPECT_THAT(first.items(), IsEmpty());
  EXPECT_LE(list.examined(), kMaxPageExamined + 300);
  EXPECT_THAT(list.Page(first.next_page_token(), 10, filter).items(), SizeIs(1));
}

TEST(ItemPageTest, EveryPageSizeListsEveryItemOnce) {
  ItemList list;
  std::vector<std::string> live;
  for (int i = 0; i < 50; ++i) {
    const bool is_live = i % 3 != 0;
    list.Add(Name(i), is_live ? 1000 : 1);
    if (is_live) live.push_back(Name(i));
  }
  for (const size_t page_size : {1, 2, 7, 33, 34, 1000}) {
    EXPECT_EQ(list.AllIds(page_size, ShownItems::kLive), live) << page_size;
  }
}

TEST(ItemPageTest, TheLastFullPageHasNoToken) {
  ItemList list;
  for (int i = 0; i < 4; ++i) list.Add(Name(i), 1000);
  int pages = 0;
  EXPECT_THAT(list.AllIds(2, ShownItems::kLive, &pages), SizeIs(4));
  EXPECT_EQ(pages, 2);
}

TEST(ItemPageTest, AnEmptyContainerIsOneEmptyPage) {
  ItemList list;
  const v1::ListItemsResponse page = list.Page("", 10);
  EXPECT_THAT(page.items(), IsEmpty());
  EXPECT_EQ(page.next_page_token(), "");
  EXPECT_EQ(page.judged_at().seconds(), kNowSeconds);
}

// B97: an answer stays far below gRPC's 4 MiB, and the list goes on.
TEST(ItemPageTest, PagesAreLimitedByBytes) {
  ItemList list;
  std::vector<std::string> all;
  for (int i = 0; i < 1000; ++i) {
    list.Add(Name(i), 1000, /*partition_key_bytes=*/2048);
    all.push_back(Name(i));
  }
  const v1::ListItemsResponse page = list.Page("", 1000);
  EXPECT_THAT(page.items(), SizeIs(testing::AllOf(testing::Gt(400), testing::Lt(600))));
  EXPECT_LT(page.ByteSizeLong(), kMaxPageBytes + 8192);
  int pages = 0;
  EXPECT_EQ(list.AllIds(1000, ShownItems::kLive, &pages), all);
  EXPECT_EQ(pages, 2);
}

TEST(ItemPageTest, AMountainOfExpiredItemsIsCrossedInBoundedSteps) {
  ItemList list;
  for (int i = 0; i < 12000; ++i) list.Add(Name(i), 1);
  list.Add("z", 1000);
  const v1::ListItemsResponse first = list.Page("", 10);
  EXPECT_THAT(first.items(), IsEmpty());
  EXPECT_NE(first.next_page_token(), "");
  EXPECT_LE(list.examined(), kMaxPageExamined + 300);
  const v1::ListItemsResponse second = list.Page(first.next_page_token(), 10);
  ASSERT_THAT(second.items(), SizeIs(1));
  EXPECT_EQ(second.items(0).item().id(), "z");
  EXPECT_EQ(second.next_page_token(), "");
}

TEST(ItemPageTest, FailsAsTheListDoes) {
  v1::ListItemsResponse response;
  EXPECT_THAT(FillItemPage(
                  TtlOn(),
                  [](const auto&, size_t) -> absl::StatusOr<ItemPage> {
                    return absl::DataLossError("a damaged block");
                  },
                  [](const ItemKey&) { return false; }, std::nullopt, 10, {},
                  absl::FromUnixSeconds(kNowSeconds), response),
              StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace ttl
