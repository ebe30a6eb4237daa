#ifndef TTL_CLIENT_CPP_CHECKS_CHECK_STREAM_H_
#define TTL_CLIENT_CPP_CHECKS_CHECK_STREAM_H_

#include <chrono>
#include <deque>
#include <memory>

#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/support/async_stream.h"
#include "grpcpp/support/status.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {

// One call of StreamCheckVisibility: sends requests and receives the answers in the same order. It
// has no thread of its own; calls of Next() drive it. Used by one thread at a time, not necessarily
// always the same.
class CheckStream {
 public:
  enum class Event {
    kAnswer,    // an answer has arrived, in answer()
    kEnd,       // the call has ended with the status end()
    kDeadline,  // nothing happened before the deadline
  };

  // `stub` must outlive this. Connects with the first Send().
  explicit CheckStream(v1::ItemService::Stub& stub);
  // Cancels the call if it has not ended. Does not wait for the server.
  ~CheckStream();
  CheckStream(const CheckStream&) = delete;
  CheckStream& operator=(const CheckStream&) = delete;

  // Never blocks: a request that cannot be written yet is written by later calls of Next().
  void Send(v1::CheckVisibilityRequest request);

  // Waits for the next event. REQUIRES: Send() was called, and Next() has not returned kEnd.
  Event Next(std::chrono::steady_clock::time_point deadline);

  // Whether an answer has ever arrived.
  bool answered() const { return answered_; }

  const v1::StreamCheckVisibilityResponse& answer() const { return answer_; }
  const grpc::Status& end() const { return end_; }

 private:
  void Write();
  void Read();

  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<v1::StreamCheckVisibilityRequest,
                                                v1::StreamCheckVisibilityResponse>>
      call_;
  std::deque<v1::StreamCheckVisibilityRequest> unwritten_;
  v1::StreamCheckVisibilityResponse answer_;
  grpc::Status end_;
  bool writing_ = false;
  bool reading_ = false;
  bool broken_ = false;  // writes fail
  bool answered_ = false;
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CHECKS_CHECK_STREAM_H_
