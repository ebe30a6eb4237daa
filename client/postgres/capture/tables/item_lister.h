#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_ITEM_LISTER_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_ITEM_LISTER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::postgres {

// Lists the items of a container, expired ones too, without waiting: one page at a time. For
// one thread.
class ItemLister {
 public:
  // `stub` must outlive this. `on_change` is called by another thread when Take() has a page;
  // not after the destructor.
  ItemLister(v1::ItemService::Stub& stub, std::function<void()> on_change);
  // Breaks the call off that is under way.
  ~ItemLister();
  ItemLister(const ItemLister&) = delete;
  ItemLister& operator=(const ItemLister&) = delete;

  // Asks for the page at `page_token`. Nothing may be under way.
  void Ask(const std::string& container, const std::string& page_token);
  // Whether a page was asked for and not taken.
  bool is_under_way() const { return call_ != nullptr; }
  // The page, once it has come. Errors are those of the call, which takes 15 s at most.
  std::optional<absl::StatusOr<v1::ListItemsResponse>> Take();
  // Forgets what is under way.
  void Drop();

 private:
  struct Call;

  v1::ItemService::Stub& stub_;
  const std::function<void()> on_change_;
  std::unique_ptr<Call> call_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_ITEM_LISTER_H_
