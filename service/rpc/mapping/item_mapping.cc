#include "service/rpc/mapping/item_mapping.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "service/base/quoted.h"
#include "service/core/ttl_rules.h"

namespace ttl {
namespace {

v1::TtlSource ToProtoSource(TtlSource source) {
  switch (source) {
    case TtlSource::kNone:
      return v1::TTL_SOURCE_NONE;
    case TtlSource::kItem:
      return v1::TTL_SOURCE_ITEM;
    case TtlSource::kContainer:
      return v1::TTL_SOURCE_CONTAINER;
  }
  return v1::TTL_SOURCE_UNSPECIFIED;
}

v1::Item ToProtoItem(const ItemKey& key, const ItemVersion& version) {
  v1::Item item;
  item.set_partition_key(key.partition_key);
  item.set_id(key.id);
  item.set_ts(version.times.ts);
  if (version.times.ttl.has_value()) item.set_ttl(*version.times.ttl);
  item.set_etag(version.etag);
  if (version.sequence.has_value()) item.set_sequence(*version.sequence);
  item.set_size_bytes(version.size_bytes);
  return item;
}

}  // namespace

v1::ItemView MakeItemView(const Container& container, const ItemKey& key,
                          const ItemVersion& version, absl::Time now) {
  const auto& default_ttl = container.settings.policy.default_ttl;
  const EffectiveTtl effective = ComputeEffectiveTtl(default_ttl, version.times.ttl);
  const std::optional<int64_t> expire_time = ExpireTime(default_ttl, version.times);
  v1::ItemView view;
  *view.mutable_item() = ToProtoItem(key, version);
  if (effective.seconds.has_value()) view.set_effective_ttl(*effective.seconds);
  view.set_ttl_source(ToProtoSource(effective.source));
  if (expire_time.has_value()) {
    view.set_expire_time(*expire_time);
    view.set_remaining_seconds(RemainingSeconds(*expire_time, *effective.seconds, now));
  }
  view.set_expired(IsExpiredAt(expire_time, now));
  return view;
}

bool IsLive(const Container& container, const TrackedItem& item, absl::Time now) {
  const auto expire_time = ExpireTime(container.settings.policy.default_ttl, item.version.times);
  return !item.state_unknown && !IsExpiredAt(expire_time, now);
}

absl::Status ItemNotFound(const ItemKey& key, absl::string_view doubt) {
  return absl::NotFoundError(absl::StrCat(
      "item ", Quoted(key.id), " of partition ", Quoted(key.partition_key), " does not exist",
      doubt.empty() ? ""
                    : absl::StrCat(" among the tracked items, which may be incomplete: ", doubt)));
}

}  // namespace ttl
