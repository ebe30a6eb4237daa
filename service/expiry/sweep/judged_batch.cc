#include "service/expiry/sweep/judged_batch.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "service/base/proto_time.h"
#include "service/core/adoption.h"
#include "service/core/container.h"
#include "service/core/due_rules.h"
#include "service/core/ttl_rules.h"
#include "service/storage/expiry_index.h"

namespace ttl {
namespace {

// Tag and length of an element of `items`.
constexpr size_t kBytesPerElement = 6;

// The item as it goes to the store; absent if it may not be deleted.
std::optional<v1::ExpiredItem> Judge(const Container& container, const DueRule& rule,
                                     const DueItem& due, bool with_etag, absl::Time judged_at) {
  const ItemVersion& version = due.item.version;
  const Expiry expiry = ComputeExpiry(container.settings.policy.default_ttl, version.times);
  if (!IsExpiredAt(expiry.time, judged_at)) return std::nullopt;
  if (!IsExpiredAt(DueTime(rule, version.times), judged_at)) return std::nullopt;
  if (!IsExpiredAt(AdoptionEnd(container, due.item.adopted_until), judged_at)) return std::nullopt;

  v1::ExpiredItem expired;
  expired.set_partition_key(due.key.partition_key);
  expired.set_id(due.key.id);
  expired.set_ts(version.times.ts);
  if (version.times.ttl.has_value()) expired.set_ttl(*version.times.ttl);
  if (version.times.expire_at.has_value()) expired.set_expire_at(*version.times.expire_at);
  if (with_etag) expired.set_etag(version.etag);
  expired.set_effective_ttl(expiry.effective_ttl.value_or(0));
  expired.set_ttl_source(static_cast<v1::TtlSource>(expiry.source));
  expired.set_expire_time(*expiry.time);
  return expired;
}

}  // namespace

JudgedBatch JudgeBatch(const Container& container, const DueRule& rule, std::vector<DueItem> due,
                       const BatchBounds& bounds, absl::Time judged_at, absl::Time not_after) {
  JudgedBatch batch;
  batch.request.set_container(container.id);
  batch.request.set_container_incarnation(container.number);
  batch.request.set_policy_revision(container.revision);
  *batch.request.mutable_not_after() = ToProto(not_after);
  size_t bytes = batch.request.ByteSizeLong();
  for (DueItem& item : due) {
    if (static_cast<int64_t>(batch.items.size()) >= bounds.max_items) break;
    auto expired = Judge(container, rule, item, bounds.with_etags, judged_at);
    if (!expired.has_value()) continue;
    bytes += expired->ByteSizeLong() + kBytesPerElement;
    if (bytes > bounds.max_request_bytes && !batch.items.empty()) break;
    *batch.request.add_items() = *std::move(expired);
    batch.items.push_back(std::move(item));
  }
  return batch;
}

}  // namespace ttl
