#include "tests/bench/workload/container_plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/bench/workload/random.h"

namespace ttl::workload {
namespace {

constexpr uint32_t kDocumentsPerPartition = 64;
constexpr size_t kNumberBytes = 4;
constexpr int kLeastValueBytes = 8;
constexpr uint64_t kKeyPurpose = 1;

void AppendBigEndian(uint32_t number, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(number >> shift));
}

uint32_t ReadBigEndian(absl::string_view bytes) {
  uint32_t number = 0;
  for (size_t i = 0; i < kNumberBytes; ++i) {
    number = number << 8 | static_cast<uint8_t>(bytes[i]);
  }
  return number;
}

void AppendRandomBytes(Random random, size_t size, std::string* out) {
  const size_t end = out->size() + size;
  while (out->size() < end) {
    const uint64_t word = random.Next();
    out->append(reinterpret_cast<const char*>(&word), std::min(sizeof(word), end - out->size()));
  }
}

uint64_t HashText(absl::string_view text) {
  uint64_t hash = 0;
  for (const char c : text) hash = Mix(hash ^ static_cast<uint8_t>(c));
  return hash;
}

}  // namespace

ContainerPlan::ContainerPlan(const WorkloadOptions& options, const ClusterProfile& cluster,
                             int64_t documents)
    : cluster_(cluster),
      id_(absl::StrCat(options.container_prefix, "/", cluster.name)),
      seed_(Mix(options.seed ^ HashText(cluster.name))),
      ttl_scale_(options.ttl_scale),
      never_share_(options.never_share),
      default_share_(options.default_share),
      max_value_bytes_(options.max_value_bytes),
      workers_(options.workers),
      default_ttl_(Scaled(MostCommonTtl(cluster))),
      documents_per_worker_(
          static_cast<uint32_t>((documents + options.workers - 1) / options.workers)) {}

DocumentKey ContainerPlan::Key(DocumentPlace place) const {
  DocumentKey key;
  key.partition_key =
      absl::StrFormat("%02x-%05x", place.worker, place.number / kDocumentsPerPartition);
  AppendBigEndian(place.number, &key.id);
  const size_t used = key.partition_key.size() + key.id.size();
  const size_t wanted = static_cast<size_t>(cluster_.key_bytes);
  AppendRandomBytes(Random(Hash(place, kKeyPurpose)), wanted > used ? wanted - used : 0, &key.id);
  return key;
}

std::optional<DocumentPlace> ContainerPlan::Find(absl::string_view partition_key,
                                                 absl::string_view id) const {
  unsigned int worker = 0;
  if (id.size() < kNumberBytes || partition_key.size() < 2) return std::nullopt;
  if (!absl::SimpleHexAtoi(partition_key.substr(0, 2), &worker)) return std::nullopt;
  const DocumentPlace place{.worker = static_cast<int>(worker), .number = ReadBigEndian(id)};
  if (place.worker >= workers_ || place.number >= documents_per_worker_) return std::nullopt;
  const DocumentKey key = Key(place);
  if (key.partition_key != partition_key || key.id != id) return std::nullopt;
  return place;
}

uint32_t ContainerPlan::PartitionFirst(uint32_t number) const {
  return number - number % kDocumentsPerPartition;
}

uint32_t ContainerPlan::PartitionEnd(uint32_t number) const {
  return std::min(PartitionFirst(number) + kDocumentsPerPartition, documents_per_worker_);
}

std::optional<int64_t> ContainerPlan::Ttl(DocumentPlace place, uint32_t version) const {
  Random random(Hash(place, uint64_t{version} << 8 | 2));
  if (random.Chance(never_share_)) return -1;
  double total = 0;
  for (const TtlShare& entry : cluster_.ttl_mix) total += entry.share;
  double draw = random.Fraction() * total;
  auto entry = cluster_.ttl_mix.begin();
  while (draw >= entry->share && entry + 1 != cluster_.ttl_mix.end()) draw -= (entry++)->share;
  const int64_t ttl = Scaled(entry->seconds);
  if (ttl == default_ttl_ && random.Chance(default_share_)) return std::nullopt;
  return ttl;
}

// Published are mean sizes only; an exponential distribution gives the many
// small and few large values that caches see.
std::string ContainerPlan::Body(DocumentPlace place, uint32_t version) const {
  Random random(Hash(place, uint64_t{version} << 8 | 3));
  const double drawn = -std::log(1 - random.Fraction()) * cluster_.value_bytes;
  const auto size = static_cast<size_t>(
      std::clamp(drawn, double{kLeastValueBytes}, static_cast<double>(max_value_bytes_)));
  std::string body;
  body.reserve(size);
  AppendBigEndian(version, &body);
  AppendRandomBytes(random, size - kNumberBytes, &body);
  return body;
}

std::optional<uint32_t> ContainerPlan::VersionOf(absl::string_view body) {
  if (body.size() < kNumberBytes) return std::nullopt;
  return ReadBigEndian(body);
}

uint64_t ContainerPlan::Hash(DocumentPlace place, uint64_t purpose) const {
  const uint64_t where = static_cast<uint64_t>(place.worker) << 32 | place.number;
  return Mix(Mix(seed_ ^ where) ^ purpose);
}

int64_t ContainerPlan::Scaled(int64_t ttl_seconds) const {
  return std::max<int64_t>(1, std::llround(static_cast<double>(ttl_seconds) * ttl_scale_));
}

std::vector<ContainerPlan> PlanContainers(const WorkloadOptions& options) {
  double total_weight = 0;
  for (const ClusterProfile& cluster : options.clusters) total_weight += ObjectWeight(cluster);
  std::vector<ContainerPlan> plans;
  for (const ClusterProfile& cluster : options.clusters) {
    const double share = ObjectWeight(cluster) / total_weight;
    const auto documents = std::llround(share * static_cast<double>(options.documents));
    plans.emplace_back(options, cluster, std::max<int64_t>(documents, options.workers));
  }
  return plans;
}

}  // namespace ttl::workload
