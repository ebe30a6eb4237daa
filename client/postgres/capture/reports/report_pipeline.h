#ifndef TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_PIPELINE_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/postgres/capture/reports/report.h"
#include "client/postgres/capture/reports/report_batch.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/client_callback.h"
#include "service/base/mutex.h"
#include "service/base/wall_clock.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::postgres {

// ReportPipeline sends reports to the sidecar in order, by one StreamTrackItems call with many
// reports of a container per message, and tracks which are durable. Reports of one key are applied
// in their order.
//
// The first error ends the pipeline: status() returns it, and only the reports that durable()
// counted by then may be assumed durable. The caller must restart from there with a new pipeline;
// it may repeat reports, because their sequences tell which are new. A report that the sidecar
// rejects as invalid is not an error: its key is untracked instead, because it must not block the
// others (our own checks are the same, but use another clock).
//
// Add(), Flush(), flush_due(), added() and durable() are for one thread; the rest is thread-safe.
class ReportPipeline
    : private grpc::ClientBidiReactor<v1::StreamTrackItemsRequest, v1::StreamTrackItemsResponse> {
 public:
  struct Options {
    std::string address;  // of the sidecar, for errors
    // Maximum messages sent but not answered; the sidecar reads no more than these.
    size_t max_in_flight = 64;
    // Maximum messages that wait in addition.
    size_t max_waiting = 16;
    // While this many are in flight, a message waits until it is full.
    size_t few_in_flight = 4;
    // Minimum time between flushes. Each costs the sidecar a sync, often of the disk that the
    // database commits to, and latency does not matter: SQL hides expired rows.
    absl::Duration flush_pause = absl::Milliseconds(50);
    size_t max_batch_bytes = 256 << 10;
  };

  // Starts the call. `stub` must outlive the pipeline. Other threads call `on_change` when
  // durable(), HasRoom() or status() may have changed, but not after the destructor.
  ReportPipeline(v1::ItemService::Stub& stub, Options options, WallClock clock,
                 std::function<void()> on_change);
  // Cancels the call without waiting for answers.
  ~ReportPipeline() override;
  ReportPipeline(const ReportPipeline&) = delete;
  ReportPipeline& operator=(const ReportPipeline&) = delete;

  // Never blocks. Call only while HasRoom(): otherwise memory grows without bound.
  void Add(const std::string& container, Report report);
  bool HasRoom() const;

  // Sends the batches that are not full, unless enough messages are in flight or the last flush was
  // less than flush_pause ago.
  void Flush(absl::Time now);
  // When Flush() would send something, in the current state.
  absl::Time flush_due() const;

  // The number of reports added.
  uint64_t added() const { return added_; }
  // The number of added reports, from the first on, that are durable.
  uint64_t durable() const;

  // OK while the call works.
  absl::Status status() const;
  // How long the sidecar has owed an answer.
  absl::Duration waiting_for_answer(absl::Time now) const;
  // The number of reports that the sidecar rejected as invalid.
  int64_t refused() const;

 private:
  struct Message {
    v1::StreamTrackItemsRequest request;
    uint64_t first_report;  // number of reports added before it
  };
  // A batch that is not sent yet.
  struct OpenBatch {
    ReportBatch batch;
    uint64_t first_report;
  };

  void OnWriteDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  void Send(OpenBatch& open);
  bool HasFewInFlight() const;

  size_t in_flight() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return written_ - answered_; }
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeAnswer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Settle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void HalveRefused() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Fail(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Release() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  const WallClock clock_;
  const std::function<void()> on_change_;

  // Used only by the thread that adds.
  std::map<std::string, OpenBatch> open_;  // by container
  uint64_t added_ = 0;
  absl::Time last_flush_ = absl::InfinitePast();

  mutable Mutex mutex_;
  CondVar done_cond_;
  // In order; starts with the first not known to be durable.
  std::deque<Message> messages_ ABSL_GUARDED_BY(mutex_);
  // Count in messages_; the last write may still be running.
  size_t written_ ABSL_GUARDED_BY(mutex_) = 0;
  // Count in messages_; nonzero only after a refusal, or while the write of the first message is
  // running.
  size_t answered_ ABSL_GUARDED_BY(mutex_) = 0;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool refused_first_ ABSL_GUARDED_BY(mutex_) = false;  // the first of messages_, as a whole
  std::string refusal_ ABSL_GUARDED_BY(mutex_);         // why
  bool held_ ABSL_GUARDED_BY(mutex_) = true;            // we may still start reads and writes
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  int64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Time waiting_since_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  // gRPC owns both while it uses them.
  grpc::ClientContext context_;
  v1::StreamTrackItemsResponse answer_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_PIPELINE_H_
