#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_ITEM_LISTER_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_ITEM_LISTER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::postgres {

// Lists the items of a container, including expired ones, one page at a time and without blocking.
// Not thread-safe.
class ItemLister {
 public:
  // `stub` must outlive the lister. Another thread calls `on_change` when Take() has a page, but
  // not after the destructor.
  ItemLister(v1::ItemService::Stub& stub, std::function<void()> on_change);
  // Cancels the running call.
  ~ItemLister();
  ItemLister(const ItemLister&) = delete;
  ItemLister& operator=(const ItemLister&) = delete;

  // Requests the page at `page_token`. REQUIRES: !is_pending().
  void Ask(const std::string& container, const std::string& page_token);
  // Whether a page was requested and not taken.
  bool is_pending() const { return call_ != nullptr; }
  // Returns the page once it has arrived. Errors are those of the call, which takes at most 15 s.
  std::optional<absl::StatusOr<v1::ListItemsResponse>> Take();
  // Abandons the running call.
  void Drop();

 private:
  struct Call;

  v1::ItemService::Stub& stub_;
  const std::function<void()> on_change_;
  std::unique_ptr<Call> call_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_ITEM_LISTER_H_
