#ifndef TTL_TESTS_BENCH_SPEED_UNARY_LOAD_H_
#define TTL_TESTS_BENCH_SPEED_UNARY_LOAD_H_

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/async_unary_call.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tests/bench/speed/window_meter.h"

namespace ttl::bench {

// Calls of one method. A slot is the place of a call among those under way.
template <typename Response>
struct UnaryTraffic {
  using Reader = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>>;
  std::function<Reader(size_t slot, grpc::ClientContext&, grpc::CompletionQueue&)> start;
  std::function<bool(size_t slot, const Response&)> is_right;
  int units = 1;  // done by one call
};

// One thread that keeps a number of calls under way, each replaced by the next as soon
// as it is answered.
template <typename Response>
class UnaryLoad {
 public:
  UnaryLoad(const UnaryTraffic<Response>& traffic, size_t in_flight)
      : traffic_(traffic), calls_(in_flight) {}

  // INTERNAL with the first wrong answer or failed call.
  absl::StatusOr<Sample> Measure(const Window& window, pid_t server) {
    WindowMeter meter(window, server);
    for (Call& call : calls_) Start(call);
    bool goes_on = true;
    for (size_t under_way = calls_.size(); under_way > 0;) {
      Call& call = NextAnswered();
      problem_.Update(Judge(call));
      goes_on = meter.Count(traffic_.units) && problem_.ok();
      if (goes_on) {
        Start(call);
      } else {
        --under_way;
      }
    }
    if (!problem_.ok()) return problem_;
    return meter.Result();
  }

 private:
  struct Call {
    std::optional<grpc::ClientContext> context;
    typename UnaryTraffic<Response>::Reader reader;
    Response response;
    grpc::Status status;
  };

  size_t SlotOf(const Call& call) const { return static_cast<size_t>(&call - calls_.data()); }

  void Start(Call& call) {
    call.context.emplace();
    call.reader = traffic_.start(SlotOf(call), *call.context, queue_);
    call.reader->Finish(&call.response, &call.status, &call);
  }

  Call& NextAnswered() {
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
    return *static_cast<Call*>(tag);
  }

  absl::Status Judge(const Call& call) const {
    if (!call.status.ok()) {
      return absl::InternalError(absl::StrCat("a call failed: ", call.status.error_message()));
    }
    if (traffic_.is_right(SlotOf(call), call.response)) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat("a wrong answer: ", call.response.ShortDebugString().substr(0, 1000)));
  }

  const UnaryTraffic<Response>& traffic_;
  grpc::CompletionQueue queue_;
  std::vector<Call> calls_;
  absl::Status problem_;
};

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_UNARY_LOAD_H_
