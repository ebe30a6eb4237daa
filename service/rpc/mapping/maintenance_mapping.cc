#include "service/rpc/mapping/maintenance_mapping.h"

#include "service/base/proto_time.h"

namespace ttl {
namespace {

void Fill(const ItemKey& key, const ItemVersion& version, v1::Item& item) {
  item.set_partition_key(key.partition_key);
  item.set_id(key.id);
  item.set_ts(version.times.ts);
  if (version.times.ttl.has_value()) item.set_ttl(*version.times.ttl);
  if (version.times.expire_at.has_value()) item.set_expire_at(*version.times.expire_at);
  item.set_etag(version.etag);
  if (version.sequence.has_value()) item.set_sequence(*version.sequence);
  item.set_size_bytes(version.size_bytes);
}

v1::ReconciliationSample ToProtoSample(const ReconciliationSample& sample) {
  v1::ReconciliationSample out;
  out.set_difference(static_cast<v1::Difference>(sample.difference));
  out.set_container(sample.container);
  if (sample.stored.has_value()) Fill(sample.key, *sample.stored, *out.mutable_stored());
  if (sample.tracked.has_value()) Fill(sample.key, *sample.tracked, *out.mutable_tracked());
  out.set_reason(sample.reason);
  return out;
}

v1::ReconciliationCounts ToProtoCounts(const ReconciliationCounts& counts) {
  v1::ReconciliationCounts out;
  out.set_scanned(counts.scanned);
  out.set_same(counts.same);
  out.set_missing(counts.missing);
  out.set_differing(counts.differing);
  out.set_newer(counts.newer);
  out.set_invalid(counts.invalid);
  out.set_extra(counts.extra);
  return out;
}

}  // namespace

v1::Reconciliation ToProto(const Reconciliation& reconciliation) {
  v1::Reconciliation out;
  out.set_container(reconciliation.request.container);
  out.set_dry_run(reconciliation.request.dry_run);
  out.set_rebuild(reconciliation.rebuild);
  out.set_state(static_cast<v1::ReconciliationState>(reconciliation.state));
  out.set_problem(reconciliation.problem);
  *out.mutable_start_time() = ToProto(reconciliation.start_time);
  if (reconciliation.end_time.has_value()) {
    *out.mutable_end_time() = ToProto(*reconciliation.end_time);
  }
  out.set_current_container(reconciliation.container);
  out.set_containers_done(reconciliation.containers_done);
  out.set_containers_total(reconciliation.containers_total);
  if (reconciliation.estimated_items.has_value()) {
    out.set_current_estimated_items(*reconciliation.estimated_items);
  }
  out.set_current_items(reconciliation.items);
  *out.mutable_counts() = ToProtoCounts(reconciliation.counts);
  for (const ReconciliationSample& sample : reconciliation.samples) {
    *out.add_samples() = ToProtoSample(sample);
  }
  return out;
}

}  // namespace ttl
