#ifndef TTL_TESTS_FAULT_FEED_CONSUMER_H_
#define TTL_TESTS_FAULT_FEED_CONSUMER_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "tests/bench/workload/random.h"
#include "ttl/v1/feed_service.grpc.pb.h"

namespace ttl {

// What a consumer reads, and from where. With a subscription, `containers` has its one container.
struct FeedSource {
  std::vector<std::string> containers;
  std::string token;         // of the response behind which it begins; without a subscription
  std::string subscription;  // its name
  bool ends_streams = true;  // now and then, by itself
};

// Reads a feed as an application does that is killed now and then: of the positions that it reads
// up to it keeps about half, its token or its acknowledgement, and after each end of a stream,
// which it also ends by itself at times, it begins again at the last one kept. Notes what the feed
// must not do to it:
//
// - an event at or before the kept position, or out of order
// - when events are read again: another one in place of one read before, or one left out
// - an EXPIRED that comes behind a watermark which covers it, without being marked late
// - another epoch, and an end of the stream other than that of its server or its own
//
// Runs on a thread of its own from construction to Stop(). Its methods may be called by another.
class FeedConsumer {
 public:
  FeedConsumer(std::shared_ptr<grpc::Channel> channel, FeedSource source, uint64_t seed);
  // Stops.
  ~FeedConsumer();

  // Waits until it has read an event with this sequence or a larger one; false at the deadline.
  bool AwaitSequence(uint64_t sequence, absl::Duration deadline);

  // The same for an event of this kind, read at any time.
  bool AwaitKind(v1::EventKind kind, absl::Duration deadline);

  void Stop();

  // The rest REQUIRES that it has been stopped.

  // All events read, by sequence.
  const std::map<uint64_t, v1::Event>& events() const { return events_; }
  // What was wrong, one sentence each.
  const std::vector<std::string>& problems() const { return problems_; }
  int64_t streams() const { return streams_; }
  int64_t read_again() const { return read_again_; }

 private:
  void Run();
  void ReadStream();
  v1::WatchEventsRequest Request() const;
  // Whether the stream is to go on.
  bool Take(const v1::WatchEventsResponse& response);
  void TakeEvent(const v1::Event& event);
  void KeepPosition(const v1::WatchEventsResponse& response);
  void Acknowledge(uint64_t epoch);
  void JudgeEnd(const grpc::Status& status);
  void Note(std::string problem);

  const std::shared_ptr<grpc::Channel> channel_;
  const FeedSource source_;
  const std::unique_ptr<v1::FeedService::Stub> stub_;
  workload::Random random_;

  // Of the thread, and after Stop() of the caller.
  std::map<uint64_t, v1::Event> events_;
  std::vector<std::string> problems_;
  int64_t streams_ = 0;
  int64_t read_again_ = 0;
  std::string token_;            // the last one kept
  uint64_t kept_ = 0;            // events up to this one do not come again
  uint64_t may_be_kept_ = 0;     // the largest that it has tried to acknowledge
  uint64_t position_ = 0;        // the last event of the present stream, or what it began behind
  uint64_t repeated_after_ = 0;  // what was read behind this one must come again
  uint64_t epoch_ = 0;
  int64_t watermark_ = 0;  // the largest, Unix seconds

  Mutex mutex_;
  bool stops_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t last_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<v1::EventKind> kinds_ ABSL_GUARDED_BY(mutex_);
  grpc::ClientContext* context_ ABSL_GUARDED_BY(mutex_) = nullptr;  // of the present stream

  std::thread thread_;
};

}  // namespace ttl

#endif  // TTL_TESTS_FAULT_FEED_CONSUMER_H_
