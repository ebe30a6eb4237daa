#ifndef TTL_TESTS_BENCH_SPEED_STREAM_LOAD_H_
#define TTL_TESTS_BENCH_SPEED_STREAM_LOAD_H_

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/async_stream.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tests/bench/speed/window_meter.h"

namespace ttl::bench {

// Messages over one bidirectional stream that is answered message by message, in order.
// A slot is the place of a message among those under way.
template <typename Request, typename Response>
struct StreamTraffic {
  using Stream = std::unique_ptr<grpc::ClientAsyncReaderWriter<Request, Response>>;
  std::function<Stream(grpc::ClientContext&, grpc::CompletionQueue&, void* tag)> open;
  std::function<const Request&(size_t slot)> next;
  std::function<bool(size_t slot, const Response&)> is_right;
  int units = 1;  // done by one message
};

// One thread that keeps a number of messages of one stream under way.
template <typename Request, typename Response>
class StreamLoad {
 public:
  StreamLoad(const StreamTraffic<Request, Response>& traffic, uint64_t in_flight)
      : traffic_(traffic), in_flight_(in_flight) {}

  // INTERNAL with the first wrong answer, or if the stream breaks.
  absl::StatusOr<Sample> Measure(const Window& window, pid_t server) {
    WindowMeter meter(window, server);
    stream_ = traffic_.open(context_, queue_, TagOf(Event::kOpened));
    while (goes_on_ || answered_ < written_ || is_writing_) {
      if (!NextEvent()) {
        problem_.Update(absl::InternalError("the stream broke"));
        break;
      }
      if (event_ == Event::kRead) {
        problem_.Update(Judge());
        goes_on_ = goes_on_ && meter.Count(traffic_.units) && problem_.ok();
      }
      Write();
      Read();
    }
    const grpc::Status status = Close();
    if (!problem_.ok()) {
      return absl::InternalError(absl::StrCat(problem_.message(), "; ", status.error_message()));
    }
    return meter.Result();
  }

 private:
  enum class Event : intptr_t { kOpened = 1, kWritten, kRead, kFinished };

  static void* TagOf(Event event) { return reinterpret_cast<void*>(event); }

  // Whether it happened as it should.
  bool NextEvent() {
    void* tag = nullptr;
    queue_.Next(&tag, &ok_);
    event_ = static_cast<Event>(reinterpret_cast<intptr_t>(tag));
    if (event_ == Event::kWritten) is_writing_ = false;
    if (event_ == Event::kRead) is_reading_ = false;
    return ok_;
  }

  absl::Status Judge() {
    if (traffic_.is_right(answered_++ % in_flight_, response_)) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat("a wrong answer: ", response_.ShortDebugString().substr(0, 1000)));
  }

  // Sends the next message, if it may be sent now.
  void Write() {
    if (!goes_on_ || is_writing_ || written_ - answered_ >= in_flight_) return;
    is_writing_ = true;
    stream_->Write(traffic_.next(written_++ % in_flight_), TagOf(Event::kWritten));
  }

  // Asks for the next answer, if one is owed and not asked for yet.
  void Read() {
    if (is_reading_ || answered_ >= written_) return;
    is_reading_ = true;
    stream_->Read(&response_, TagOf(Event::kRead));
  }

  // Ends the stream: in order if nothing is under way, at once if something went wrong.
  grpc::Status Close() {
    if (problem_.ok()) {
      is_writing_ = true;
      stream_->WritesDone(TagOf(Event::kWritten));
    } else {
      context_.TryCancel();
    }
    grpc::Status status;
    stream_->Finish(&status, TagOf(Event::kFinished));
    for (bool finished = false; !finished || is_writing_ || is_reading_;) {
      NextEvent();
      finished = finished || event_ == Event::kFinished;
    }
    return status;
  }

  const StreamTraffic<Request, Response>& traffic_;
  const uint64_t in_flight_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  typename StreamTraffic<Request, Response>::Stream stream_;
  Response response_;
  absl::Status problem_;
  Event event_ = Event::kOpened;
  bool ok_ = true;
  bool goes_on_ = true;
  bool is_writing_ = false;
  bool is_reading_ = false;
  uint64_t written_ = 0;
  uint64_t answered_ = 0;
};

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_STREAM_LOAD_H_
