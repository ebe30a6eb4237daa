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
  PageBuilder(const Container& container, size_t page_size, bool show_expired, absl::Time now,
              v1::ListItemsResponse& response)
      : container_(container),
        page_size_(page_size),
        show_expired_(show_expired),
        now_(now),
        response_(response) {}

  // Takes the next item, shown or not. Returns false if it does not fit.
  bool Take(const ItemKey& key, const TrackedItem& item) {
    if (examined_ >= kMaxPageExamined) return false;
    if (IsShown(item) && !Add(MakeItemView(container_, key, item.version, now_))) return false;
    ++examined_;
    return true;
  }

  // Number of items to read next; one more than fit, to tell whether more follow.
  size_t WantedItems() const {
    return std::min(kChunkItems, page_size_ - response_.items_size() + 1);
  }

 private:
  bool IsShown(const TrackedItem& item) const {
    return show_expired_ ? !item.state_unknown : IsLive(container_, item, now_);
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
  const size_t page_size_;
  const bool show_expired_;
  const absl::Time now_;
  v1::ListItemsResponse& response_;
  size_t bytes_ = 0;
  size_t examined_ = 0;
};

}  // namespace

absl::Status FillItemPage(const Container& container, ListItemsFrom list,
                          std::optional<ItemKey> after, size_t page_size, bool show_expired,
                          absl::Time now, v1::ListItemsResponse& response) {
  *response.mutable_judged_at() = ToProto(now);
  PageBuilder page(container, page_size, show_expired, now, response);
  while (true) {
    const size_t wanted = page.WantedItems();
    TTL_ASSIGN_OR_RETURN(const ItemPage chunk, list(after, wanted));
    for (const auto& [key, item] : chunk) {
      if (!page.Take(key, item)) {
        response.set_next_page_token(ItemPageToken(*after));
        return absl::OkStatus();
      }
      after = key;
    }
    if (chunk.size() < wanted) return absl::OkStatus();
  }
}

}  // namespace ttl
