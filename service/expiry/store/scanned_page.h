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

// The validated content of one ScanItemsResponse.
struct ScannedPage {
  std::vector<ItemReport> items;                 // valid items
  std::vector<ReconciliationSample> impossible;  // invalid items, with the reason
  std::string next_page_token;                   // empty: this was the last page
};

// Limits of a ScanItemsResponse.
inline constexpr int kMaxScannedItems = 1000;
inline constexpr size_t kMaxScanTokenBytes = 4096;

// `page_token` is that of the request, `now` is for judging `ts`, and `illegal` says whether an
// item with an illegal ttl is valid. INTERNAL if the message breaks the rules of ScanItemsResponse.
absl::StatusOr<ScannedPage> ReadScannedPage(const std::string& container,
                                            const v1::ScanItemsResponse& response,
                                            const std::string& page_token, absl::Time now,
                                            IllegalTtl illegal = IllegalTtl::kRefused);

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_SCANNED_PAGE_H_
