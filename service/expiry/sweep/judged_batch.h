#ifndef TTL_SERVICE_EXPIRY_SWEEP_JUDGED_BATCH_H_
#define TTL_SERVICE_EXPIRY_SWEEP_JUDGED_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/due_rules.h"
#include "service/storage/expiry_index.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// Bounds of one batch, and whether the store compares etags.
struct BatchBounds {
  int64_t max_items = 0;
  size_t max_request_bytes = 0;
  bool with_etags = false;
};

// A request, and the items it deletes, in the same order.
struct JudgedBatch {
  std::vector<DueItem> items;
  v1::DeleteItemsRequest request;
};

// Judges every item of `due` again, by `container` and `rule` at `judged_at`, and puts those that
// are expired and due into a batch, in the given order, up to `bounds`. The first one is included
// whatever its size. Pure.
JudgedBatch JudgeBatch(const Container& container, const DueRule& rule, std::vector<DueItem> due,
                       const BatchBounds& bounds, absl::Time judged_at, absl::Time not_after);

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_SWEEP_JUDGED_BATCH_H_
