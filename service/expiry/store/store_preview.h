#ifndef TTL_SERVICE_EXPIRY_STORE_STORE_PREVIEW_H_
#define TTL_SERVICE_EXPIRY_STORE_STORE_PREVIEW_H_

#include <string>

#include "service/core/adoption_preview.h"
#include "service/core/guarded_clock.h"
#include "service/expiry/store/primary_store_client.h"

namespace ttl {

struct StorePreviewOptions {
  // Maximum items read from the store per second. Above 0.
  double max_items_per_second = 50000;

  // Deadline for reading one page.
  absl::Duration page_deadline = absl::Seconds(5);
};

// Returns a step function that reads one page of the store's items of `container`, judges them by
// `settings`, and sleeps to keep to the rate of `options`. A step returns FAILED_PRECONDITION if
// the store does not implement ScanItems, and UNAVAILABLE if the scan fails. `store` and `clock`
// must outlive the function, which is not thread-safe.
AdoptionPreviewStep PreviewStore(PrimaryStoreClient& store, const GuardedClock& clock,
                                 const StorePreviewOptions& options, std::string container,
                                 ContainerSettings settings);

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_STORE_PREVIEW_H_
