#ifndef TTL_SERVICE_EXPIRY_STORE_STORE_PREVIEW_H_
#define TTL_SERVICE_EXPIRY_STORE_STORE_PREVIEW_H_

#include <string>

#include "service/core/adoption_preview.h"
#include "service/core/guarded_clock.h"
#include "service/expiry/store/primary_store_client.h"

namespace ttl {

struct StorePreviewOptions {
  // Most items read from the store per second. Above 0.
  double max_items_per_second = 50000;

  // Time that reading one page may take.
  absl::Duration page_deadline = absl::Seconds(5);
};

// Reads the items of `container` that `store` has, page by page, and judges them by
// `settings`. Each step reads one page, at the pace of the options. FAILED_PRECONDITION if
// the store offers no scan; UNAVAILABLE if it fails. `store` and `clock` must outlive the
// steps.
AdoptionPreviewStep PreviewStore(PrimaryStoreClient& store, const GuardedClock& clock,
                                 const StorePreviewOptions& options, std::string container,
                                 ContainerSettings settings);

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_STORE_STORE_PREVIEW_H_
