#ifndef TTL_TESTS_BENCH_WORKLOAD_CONTAINER_PLAN_H_
#define TTL_TESTS_BENCH_WORKLOAD_CONTAINER_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/bench/workload/workload_options.h"

namespace ttl::workload {

// Key of a document in its container.
struct DocumentKey {
  std::string partition_key;
  std::string id;
};

// Which document it is: the worker that owns it and its number there.
struct DocumentPlace {
  int worker;
  uint32_t number;

  bool operator==(const DocumentPlace&) const = default;
};

// All documents that a workload may write to one container, computed from the
// seed and never stored: key by place; ttl and body by place and version, a
// number that no two writes of a worker share.
//
// Immutable after construction, so safe to share between threads.
class ContainerPlan {
 public:
  // Plans `documents` documents, spread evenly over the workers.
  ContainerPlan(const WorkloadOptions& options, const ClusterProfile& cluster, int64_t documents);

  const ClusterProfile& cluster() const { return cluster_; }
  const std::string& id() const { return id_; }

  // default_ttl of the container: the most common ttl of the cluster, scaled.
  int64_t default_ttl() const { return default_ttl_; }

  uint32_t documents_per_worker() const { return documents_per_worker_; }

  DocumentKey Key(DocumentPlace place) const;

  // The place that has this key, or nothing if the plan has no such key.
  std::optional<DocumentPlace> Find(absl::string_view partition_key, absl::string_view id) const;

  // Numbers of the documents in the partition of document `number`: [first, end).
  uint32_t PartitionFirst(uint32_t number) const;
  uint32_t PartitionEnd(uint32_t number) const;

  // The document's own ttl: absent, -1 or positive.
  std::optional<int64_t> Ttl(DocumentPlace place, uint32_t version) const;

  // The body; its first four bytes are the version.
  std::string Body(DocumentPlace place, uint32_t version) const;

  // The version in a body; nothing if the body is too short to be ours.
  static std::optional<uint32_t> VersionOf(absl::string_view body);

 private:
  uint64_t Hash(DocumentPlace place, uint64_t purpose) const;
  int64_t Scaled(int64_t ttl_seconds) const;

  ClusterProfile cluster_;
  std::string id_;
  uint64_t seed_;
  double ttl_scale_;
  double never_share_;
  double default_share_;
  int max_value_bytes_;
  int workers_;
  int64_t default_ttl_;
  uint32_t documents_per_worker_;
};

// One plan per cluster of the options.
std::vector<ContainerPlan> PlanContainers(const WorkloadOptions& options);

}  // namespace ttl::workload

#endif  // TTL_TESTS_BENCH_WORKLOAD_CONTAINER_PLAN_H_
