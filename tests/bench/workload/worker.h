#ifndef TTL_TESTS_BENCH_WORKLOAD_WORKER_H_
#define TTL_TESTS_BENCH_WORKLOAD_WORKER_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "documentstore/v1/document_service.grpc.pb.h"
#include "tests/bench/workload/container_plan.h"
#include "tests/bench/workload/oracle.h"
#include "tests/bench/workload/random.h"
#include "tests/bench/workload/tally.h"
#include "tests/bench/workload/workload_options.h"
#include "tests/bench/workload/zipf_sampler.h"

namespace ttl::workload {

// Writes and reads its own documents of all containers, one call at a time, and
// compares every answer with its oracles. When the store does not answer, it
// tries on until the fate of the documents concerned is known; when that takes
// longer than the options allow, it counts a mismatch and gives up.
//
// Not thread-safe; one thread runs a worker.
class Worker {
 public:
  // `options` and `plans` must outlive the worker.
  Worker(const WorkloadOptions& options, const std::vector<ContainerPlan>& plans, int number,
         const std::shared_ptr<grpc::Channel>& channel);

  // Writes every document once, unless `stop` becomes true.
  void Load(const std::atomic<bool>& stop);

  // One operation: the next of the sequence, or a read of a document that is
  // just about to expire or just expired.
  void RunOperation();

  // Whether the store was away for too long.
  bool gave_up() const { return gave_up_; }

  const Oracle& oracle(size_t container) const { return shards_[container].oracle; }
  const Tally& tally() const { return tally_; }

 private:
  // This worker's part of a container.
  struct Shard {
    Shard(const ContainerPlan& container_plan, double alpha);

    const ContainerPlan& plan;
    Oracle oracle;
    ZipfSampler popularity;
    // Maps ranks to documents, so that the popular ones lie apart.
    uint64_t stride;
  };
  // A document of a shard.
  struct Target {
    Shard* shard;
    uint32_t number;
  };
  // A read that is due at an instant.
  struct Probe {
    absl::Time due;
    Target target;
    bool operator>(const Probe& other) const { return due > other.due; }
  };
  // How a call went, with the clock before and after it.
  struct Answer {
    grpc::Status status;
    absl::Time sent;
    absl::Time received;
  };

  Target Draw();
  bool RunDueProbe();
  void Write(Target target);

  void Put(Shard& shard, uint32_t first, uint32_t end);
  void Create(Target target);
  void Replace(Target target);
  void Touch(Target target);
  void Delete(Target target);
  void Get(Target target);
  void Query(Target target);

  // What Replace, Touch and Delete have in common: judges an answer that
  // depends on the document being there. True if the call was accepted.
  bool JudgeConditional(const char* what, Target target, const Answer& answer);

  template <typename Request, typename Response>
  Answer Call(grpc::Status (documentstore::v1::DocumentService::Stub::*method)(grpc::ClientContext*,
                                                                               const Request&,
                                                                               Response*),
              const Request& request, Response* response);

  documentstore::v1::Document NewDocument(Target target);
  void Acknowledge(const char* what, Target target, uint32_t version,
                   const documentstore::v1::Document& sent,
                   const documentstore::v1::Document& answered, const Answer& answer);
  void JudgeShown(const char* what, Target target, const documentstore::v1::Document& document,
                  bool with_body, absl::Time judged_at, const Answer& answer);
  void JudgeHidden(const char* what, Target target, const Answer& answer);
  void PlanProbes(Target target);

  // Counts an unanswered call; pauses, and waits a while for a store that is away.
  void NoteUnanswered(const Answer& answer);
  // Reads the document until its fate is known.
  void Resolve(Target target);
  // One try of that; false if there was no answer.
  bool TryResolve(Target target);

  void Mismatch(const char* what, Target target, const std::string& description);

  DocumentPlace Place(Target target) const { return {number_, target.number}; }

  const WorkloadOptions& options_;
  const int number_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<documentstore::v1::DocumentService::Stub> stub_;
  std::vector<Shard> shards_;
  std::vector<double> cumulative_rates_;
  Random random_;
  uint32_t last_version_ = 0;
  std::priority_queue<Probe, std::vector<Probe>, std::greater<Probe>> probes_;
  Tally tally_;
  bool gave_up_ = false;
};

}  // namespace ttl::workload

#endif  // TTL_TESTS_BENCH_WORKLOAD_WORKER_H_
