#ifndef TTL_TESTS_BENCH_WORKLOAD_CLUSTER_PROFILE_H_
#define TTL_TESTS_BENCH_WORKLOAD_CLUSTER_PROFILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl::workload {

// A ttl and the share of writes that carry it.
struct TtlShare {
  int64_t seconds;
  double share;
};

// Shares of the operations on a cluster. Published shares are rounded, so they
// need not add up to 1.
struct OperationShares {
  double get;
  // Writes of a key whether it exists or not (set, cas, incr, prepend).
  double set;
  // Writes of a key that must not exist.
  double add;
  // Deletes of a key.
  double remove;
};

// What is published of one production cache cluster.
struct ClusterProfile {
  std::string name;
  // Mean sizes in bytes.
  int key_bytes;
  int value_bytes;
  // Thousand requests per second.
  double rate_kqps;
  // Accesses per object.
  double mean_frequency;
  std::vector<TtlShare> ttl_mix;
  OperationShares operations;
  // Exponent of the Zipf popularity of keys; absent if none was fitted.
  std::optional<double> zipf_alpha;
};

// All published clusters, in order.
const std::vector<ClusterProfile>& Clusters();

// The cluster of that name; NotFound names the closest thing to try.
absl::StatusOr<ClusterProfile> FindCluster(absl::string_view name);

// A blend for whole-system runs: clusters whose ttls reach from seconds to a
// day, read-mostly and write-mostly, popularity from flat to very skewed.
std::vector<ClusterProfile> ProductionMix();

// The ttl that most writes of the cluster carry, in seconds.
int64_t MostCommonTtl(const ClusterProfile& cluster);

// How many objects the cluster holds relative to others: its request rate over
// the number of accesses an object gets.
double ObjectWeight(const ClusterProfile& cluster);

}  // namespace ttl::workload

#endif  // TTL_TESTS_BENCH_WORKLOAD_CLUSTER_PROFILE_H_
