#include "service/rpc/mapping/item_page.h"

#include <algorithm>

#include "service/base/proto_time.h"
#include "service/base/status_macros.h"
#include "service/rpc/mapping/item_mapping.h"
#include "service/rpc/mapping/page_token.h"

namespace ttl {
namespace {

// Items read from storage at a time; bounds the memory of a call.
constexpr size_t kChunkItems = 256;

// Builds one page.
class PageBuilder {
 public:
  PageBuilder(const Container& container, ShowsExpired shows_expired, size_t page_size,
              const ItemFilter& filter, absl::Time judged_at, v1::ListItemsResponse& response)
      : container_(container),
        shows_expired_(shows_expired),
        page_size_(page_size),
        filter_(filter),
        judged_at_(judged_at),
        response_(response) {}

  // Takes the next item, shown or not. Returns false if it does not fit.
  bool Take(const ItemKey& key, const TrackedItem& item) {
    if (examined_ >= kMaxPageExamined) return false;
    if (IsShown(key, item) && !Add(MakeItemView(container_, key, item.version, judged_at_)))
      return false;
    ++examined_;
    return true;
  }

  // Number of items to read next; one more than fit, to tell whether more follow.
  size_t WantedItems() const {
    return std::min(kChunkItems, page_size_ - response_.items_size() + 1);
  }

 private:
  bool IsShown(const ItemKey& key, const TrackedItem& item) const {
    return !item.state_unknown && IsInRange(item) && IsOfShownState(key, item);
  }

  bool IsOfShownState(const ItemKey& key, const TrackedItem& item) const {
    if (filter_.shown == ShownItems::kBoth) return true;
    const bool is_live = IsLive(container_, item, judged_at_);
    if (filter_.shown == ShownItems::kExpired) return !is_live;
    return is_live || shows_expired_(key);
  }

  bool IsInRange(const TrackedItem& item) const {
    if (!filter_.expire_time_from.has_value() && !filter_.expire_time_to.has_value()) return true;
    const std::optional<int64_t> end =
        ExpireTime(container_.settings.policy.default_ttl, item.version.times);
    return end.has_value() && *end >= filter_.expire_time_from.value_or(*end) &&
           (!filter_.expire_time_to.has_value() || *end < *filter_.expire_time_to);
  }

  bool Add(v1::ItemView view) {
    const size_t bytes = view.ByteSizeLong();
    const size_t count = response_.items_size();
    if (count >= page_size_ || (count > 0 && bytes_ + bytes > kMaxPageBytes)) return false;
    bytes_ += bytes;
    *response_.add_items() = std::move(view);
    return true;
  }

  const Container& container_;
  const ShowsExpired shows_expired_;
  const size_t page_size_;
  const ItemFilter filter_;
  const absl::Time judged_at_;
  v1::ListItemsResponse& response_;
  size_t bytes_ = 0;
  size_t examined_ = 0;
};

}  // namespace

absl::Status FillItemPage(const Container& container, ListItemsFrom list,
                          ShowsExpired shows_expired, std::optional<ItemKey> after,
                          size_t page_size, const ItemFilter& filter, absl::Time judged_at,
                          v1::ListItemsResponse& response) {
  *response.mutable_judged_at() = ToProto(judged_at);
  PageBuilder page(container, shows_expired, page_size, filter, judged_at, response);
  while (true) {
    const size_t wanted = page.WantedItems();
    TTL_ASSIGN_OR_RETURN(const ItemPage chunk, list(after, wanted));
    for (const auto& [key, item] : chunk) {
      if (!page.Take(key, item)) {
        response.set_next_page_token(ItemPageToken(*after, judged_at));
        return absl::OkStatus();
      }
      after = key;
    }
    if (chunk.size() < wanted) return absl::OkStatus();
  }
}

}  // namespace ttl
