#include "service/rpc/mapping/item_mapping.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/core/ttl_rules.h"

namespace ttl {
namespace {

v1::Item ToProtoItem(const ItemKey& key, const ItemVersion& version) {
  v1::Item item;
  item.set_partition_key(key.partition_key);
  item.set_id(key.id);
  item.set_ts(version.times.ts);
  if (version.times.ttl.has_value()) item.set_ttl(*version.times.ttl);
  if (version.times.expire_at.has_value()) item.set_expire_at(*version.times.expire_at);
  item.set_etag(version.etag);
  if (version.sequence.has_value()) item.set_sequence(*version.sequence);
  item.set_size_bytes(version.size_bytes);
  return item;
}

}  // namespace

v1::ItemView MakeItemView(const Container& container, const ItemKey& key,
                          const ItemVersion& version, absl::Time now) {
  const Expiry expiry = ComputeExpiry(container.settings.policy.default_ttl, version.times);
  v1::ItemView view;
  *view.mutable_item() = ToProtoItem(key, version);
  if (expiry.effective_ttl.has_value()) view.set_effective_ttl(*expiry.effective_ttl);
  view.set_ttl_source(static_cast<v1::TtlSource>(expiry.source));
  if (expiry.time.has_value()) {
    view.set_expire_time(*expiry.time);
    view.set_remaining_seconds(RemainingSeconds(*expiry.time, expiry.effective_ttl, now));
  }
  view.set_expired(IsExpiredAt(expiry.time, now));
  if (version.times.touch_time != 0) view.set_touch_time(version.times.touch_time);
  return view;
}

bool IsLive(const Container& container, const TrackedItem& item, absl::Time now) {
  const auto expire_time = ExpireTime(container.settings.policy.default_ttl, item.version.times);
  return !item.state_unknown && !IsExpiredAt(expire_time, now);
}

absl::Status ItemNotFound(const ItemKey& key, absl::string_view doubt) {
  return MakeError(
      Reason::kItemNotFound,
      absl::StrCat(
          "item ", Quoted(key.id), " of partition ", Quoted(key.partition_key), " does not exist",
          doubt.empty()
              ? ""
              : absl::StrCat(" among the tracked items, which may be incomplete: ", doubt)));
}

}  // namespace ttl
