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

// One call of StreamCheckVisibility: requests out, answers back in the same order. It
// has no thread: whoever calls Next() moves it on, and gets the answer in its own
// thread. Used by one thread at a time, which need not always be the same.
class CheckStream {
 public:
  enum class Event {
    kAnswer,    // there is one, in answer()
    kEnd,       // the call is over, as end() says
    kDeadline,  // nothing happened until then
  };

  // Connects when it first sends.
  explicit CheckStream(v1::ItemService::Stub& stub);
  // Cancels the call if it is not over. Waits for nothing that others do.
  ~CheckStream();
  CheckStream(const CheckStream&) = delete;
  CheckStream& operator=(const CheckStream&) = delete;

  // Never waits: what cannot be written yet is written by later calls of Next().
  void Send(v1::CheckVisibilityRequest request);

  // To be called only after something was sent, and no more after kEnd.
  Event Next(std::chrono::steady_clock::time_point deadline);

  // Whether the call was ever answered.
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
  bool broken_ = false;  // nothing can be written any more
  bool answered_ = false;
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CHECKS_CHECK_STREAM_H_
