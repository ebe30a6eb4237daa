#ifndef TTL_SERVICE_EXPIRY_STORE_SCANNED_PAGE_H_
#define TTL_SERVICE_EXPIRY_STORE_SCANNED_PAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/core/illegal_ttl.h"
#include "service/core/state/reconciliation.h"
#include "service/storage/items.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// One message of the store's items, read with suspicion.
struct ScannedPage {
  std::vector<ItemReport> items;                 // that can be tracked
  std::vector<ReconciliationSample> impossible;  // those that cannot, with the reason
  std::string next_page_token;                   // empty: these were the last
};

// Most that a message of ScanItems may have.
inline constexpr int kMaxScannedItems = 1000;
inline constexpr size_t kMaxScanTokenBytes = 4096;

// What becomes of a ttl that is not legal says `illegal`. INTERNAL if the message breaks the rules
// of ScanItemsResponse; `page_token` is the one that it follows.
absl::StatusOr<ScannedPage> ReadScannedPage(const std::string& container,
                                            const v1::ScanItemsResponse& response,
                                            const std::string& page_token, absl::Time now,
                                            IllegalTtl illegal = IllegalTtl::kRefused);

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_SCANNED_PAGE_H_
