// Reports, as they come from the wire: what passes the validation can be stored and
// judged.

#include "absl/time/time.h"
#include "service/rpc/mapping/request_validation.h"
#include "tests/fuzz/fuzz_input.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

void RequireFitting(const ItemKey& key) {
  Require(key.partition_key.size() <= kMaxPartitionKeyBytes, "fitting partition key");
  Require(key.id.size() <= kMaxIdBytes, "fitting id");
}

void ReadTracked(absl::string_view bytes) {
  v1::TrackItemsRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto reports = ReadReports(request, kNow);
  if (!reports.ok()) return;
  Require(reports->size() == static_cast<size_t>(request.items_size()), "a report for each item");
  for (const ItemReport& report : *reports) {
    RequireFitting(report.key);
    Require(IsPossible(report.version.times, kNow), "possible times");
    Require(report.version.etag.size() <= kMaxEtagBytes, "fitting etag");
    Require(report.version.size_bytes >= 0, "possible size");
  }
}

void ReadUntracked(absl::string_view bytes) {
  v1::UntrackItemsRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto removals = ReadRemovals(request, kNow);
  if (!removals.ok()) return;
  Require(removals->size() == static_cast<size_t>(request.items_size()), "a removal for each item");
  for (const ItemRemoval& removal : *removals) {
    RequireFitting(removal.key);
    const bool is_unknown = removal.ts == ItemRemoval::kNewerThanAnyTs;
    Require(IsLegalTs(removal.ts, kNow) || is_unknown, "possible time");
    Require(!is_unknown || removal.sequence.has_value(), "a sequence in place of the time");
  }
}

}  // namespace
}  // namespace ttl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  ttl::ReadTracked(bytes);
  ttl::ReadUntracked(bytes);
  return 0;
}
