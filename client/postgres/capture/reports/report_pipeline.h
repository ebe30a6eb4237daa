#ifndef TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_PIPELINE_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_PIPELINE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/postgres/capture/reports/report.h"
#include "client/postgres/capture/reports/report_batch.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/client_callback.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::postgres {

// Takes reports, in order, to the sidecar by one call of StreamTrackItems, many of a container
// in a message, and says which are durable. Reports of one key are applied in their order.
//
// The first error ends it: status() has it, and nothing after the reports that are durable by
// then may be taken for durable. All has to begin again from there, with a new pipeline;
// reports may be repeated, their sequences say what is new. Only a report that the sidecar
// calls impossible is no error: its key is untracked instead, since it must not keep the others
// back (our own checks are the same, but by another clock).
//
// Add(), Flush(), flush_due(), added() and durable() are for one thread; the rest is thread-safe.
class ReportPipeline
    : private grpc::ClientBidiReactor<v1::StreamTrackItemsRequest, v1::StreamTrackItemsResponse> {
 public:
  struct Options {
    std::string address;  // of the sidecar, for errors
    // Messages sent and not answered; the sidecar reads no more than these.
    size_t max_in_flight = 64;
    // Messages that wait, besides.
    size_t max_waiting = 16;
    // While so many are in flight, a message waits until it is full.
    size_t few_in_flight = 4;
    // Between flushes. Each costs the sidecar a sync, often of the disk that the database commits
    // to, and nobody waits for it: expired rows are hidden by SQL.
    absl::Duration flush_pause = absl::Milliseconds(50);
    size_t max_batch_bytes = 256 << 10;
  };

  // Begins the call. `stub` must outlive this. `on_change` is called by other threads when
  // durable(), HasRoom() or status() may have changed; not after the destructor.
  ReportPipeline(v1::ItemService::Stub& stub, Options options, std::function<void()> on_change);
  // Breaks the call off. Waits for no answer.
  ~ReportPipeline() override;
  ReportPipeline(const ReportPipeline&) = delete;
  ReportPipeline& operator=(const ReportPipeline&) = delete;

  // Never waits; to be called only while HasRoom(), else memory grows.
  void Add(const std::string& container, Report report);
  bool HasRoom() const;

  // Sends what waits for more to go with it, unless enough is under way already or the last
  // time was less than the pause ago.
  void Flush(absl::Time now);
  // From when on Flush() would send something, as it looks now.
  absl::Time flush_due() const;

  // How many reports were added.
  uint64_t added() const { return added_; }
  // The first so many of them are durable.
  uint64_t durable() const;

  // OK as long as it works.
  absl::Status status() const;
  // For how long the sidecar has owed an answer.
  absl::Duration waiting_for_answer(absl::Time now) const;
  // Reports that the sidecar called impossible.
  int64_t refused() const;

 private:
  struct Message {
    v1::StreamTrackItemsRequest request;
    uint64_t first_report;  // the count of reports before it
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

  // With the lock held.
  size_t in_flight() const { return written_ - answered_; }
  void WriteNext();
  void TakeAnswer();
  void Settle();
  void HalveRefused();
  void Fail(absl::Status status);
  void Release();

  const Options options_;
  const std::function<void()> on_change_;

  // For the thread that adds.
  std::map<std::string, OpenBatch> open_;  // by container
  uint64_t added_ = 0;
  absl::Time last_flush_ = absl::InfinitePast();

  mutable std::mutex mutex_;
  std::condition_variable done_cond_;
  // All guarded by mutex_, but `context_` and `answer_` are gRPC's while they are in use.
  std::deque<Message> messages_;  // in order; the first not yet known to be durable
  size_t written_ = 0;            // of messages_, the last of them perhaps not to its end
  size_t answered_ = 0;           // of messages_; more than none only after a refusal, or
                                  // while the write of the first has not ended
  bool writing_ = false;
  bool refused_first_ = false;  // the first of messages_ was refused as a whole
  std::string refusal_;         // why
  bool held_ = true;            // we may still begin reads and writes
  bool done_ = false;
  absl::Status status_;
  int64_t refused_ = 0;
  absl::Time waiting_since_ = absl::InfiniteFuture();
  grpc::ClientContext context_;
  v1::StreamTrackItemsResponse answer_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_PIPELINE_H_
