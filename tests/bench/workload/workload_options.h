#ifndef TTL_TESTS_BENCH_WORKLOAD_WORKLOAD_OPTIONS_H_
#define TTL_TESTS_BENCH_WORKLOAD_WORKLOAD_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/bench/workload/cluster_profile.h"

namespace ttl::workload {

// What to generate. The same options give the same documents and the same
// sequence of operations per worker.
struct WorkloadOptions {
  // One container is made per cluster, named PREFIX/CLUSTER.
  std::vector<ClusterProfile> clusters;
  std::string container_prefix = "workload";

  uint64_t seed = 1;

  // Documents over all containers; each holds a share by ObjectWeight, at least
  // one document per worker.
  int64_t documents = 10'000;

  // Each worker has documents and partitions of its own and does one call at a
  // time, so this bounds the calls in flight, and every document has a single
  // history that the oracle can know. 1 to 256.
  int workers = 8;

  // Every ttl is multiplied by this and rounded to whole seconds, at least 1.
  double ttl_scale = 0.1;

  // Values are drawn around the cluster's mean and cut here; at least 8, which
  // also is the size that smaller values are raised to.
  int max_value_bytes = 1024;

  // Share of writes with ttl -1.
  double never_share = 0.01;

  // Of the writes that carry the cluster's most common ttl (which becomes the
  // default_ttl of its container), the share that leaves it out.
  double default_share = 0.5;

  // Of the reads, the share that queries the whole partition of the document.
  double query_share = 0.02;

  // Share of the documents that are also read just before and just after they
  // expire.
  double probe_share = 0.1;

  // Documents per PutDocuments while loading, 1 to 1000.
  int batch_documents = 200;

  // Deadline of each call.
  absl::Duration call_deadline = absl::Seconds(30);

  // How long the store may fail to answer before the run is given up.
  absl::Duration unavailable_deadline = absl::Seconds(60);
};

}  // namespace ttl::workload

#endif  // TTL_TESTS_BENCH_WORKLOAD_WORKLOAD_OPTIONS_H_
