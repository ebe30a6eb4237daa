#include "tests/bench/speed/open_loop.h"

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/async_unary_call.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/bench/speed/load_requests.h"
#include "tests/bench/speed/process_usage.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Beyond so many, the next check waits; its latency counts nevertheless.
constexpr size_t kMaxUnderWay = 64;
constexpr size_t kPreparedRequests = 512;

struct Call {
  Clock::time_point due;
  const PreparedCheck* check = nullptr;
  std::optional<grpc::ClientContext> context;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v1::CheckVisibilityResponse>> reader;
  v1::CheckVisibilityResponse response;
  grpc::Status status;
};

// The calls that are not under way. Thread-safe.
class FreeCalls {
 public:
  explicit FreeCalls(std::vector<Call>& calls) {
    for (Call& call : calls) free_.push_back(&call);
  }

  // Waits for one.
  Call& Take() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !free_.empty(); });
    Call* const call = free_.back();
    free_.pop_back();
    return *call;
  }

  void Return(Call& call) {
    const std::lock_guard lock(mutex_);
    free_.push_back(&call);
    returned_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<Call*> free_;  // guarded by mutex_
};

// One run. A thread sends, and the one that asked receives: a single thread would have
// to choose between waiting for an answer and sending in time.
class OpenLoop {
 public:
  OpenLoop(const Server& server, uint64_t items)
      : server_(server),
        stub_(v1::ItemService::NewStub(server.channel)),
        checks_(items, /*keys=*/1, kPreparedRequests),
        calls_(kMaxUnderWay),
        free_(calls_) {}

  absl::StatusOr<OpenLoopResult> Run(double calls_per_second, const Window& window) {
    const Clock::time_point begin = Clock::now();
    counted_from_ = begin + window.warm_up;
    end_ = counted_from_ + window.length;
    const std::chrono::duration<double> interval(1 / calls_per_second);
    std::thread sender([&] { Send(begin, std::chrono::duration_cast<Clock::duration>(interval)); });
    const absl::Status status = Receive();
    sender.join();
    if (!status.ok()) return status;
    return result_;
  }

 private:
  struct Usage {
    Clock::time_point time;
    std::chrono::nanoseconds generator;
    std::chrono::nanoseconds server;
  };

  Usage ReadUsage() const { return {Clock::now(), CpuTime(0), CpuTime(server_.pid)}; }

  void NoteBusyCores(const Usage& before, const Usage& after) {
    const std::chrono::duration<double> passed = after.time - before.time;
    result_.generator_cores = (after.generator - before.generator) / passed;
    result_.server_cores = (after.server - before.server) / passed;
  }

  void Send(Clock::time_point due, Clock::duration interval) {
    std::optional<Usage> before;
    for (; due < end_; due += interval) {
      std::this_thread::sleep_until(due);
      if (due >= counted_from_ && !before.has_value()) before = ReadUsage();
      Call& call = free_.Take();
      call.due = due;
      call.check = &checks_.Next(0);
      call.context.emplace();
      call.reader =
          stub_->AsyncCheckVisibility(&*call.context, call.check->message.request(), &queue_);
      call.reader->Finish(&call.response, &call.status, &call);
    }
    if (before.has_value()) NoteBusyCores(*before, ReadUsage());
    // When all calls are back, nothing else will come.
    for (size_t i = 0; i < calls_.size(); ++i) free_.Take();
    queue_.Shutdown();
  }

  absl::Status Receive() {
    absl::Status problem;
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
      Call& call = *static_cast<Call*>(tag);
      const Clock::time_point now = Clock::now();
      problem.Update(Judge(call));
      if (call.due >= counted_from_) {
        const std::chrono::duration<double, std::micro> latency = now - call.due;
        result_.latencies.push_back(latency.count());
      }
      free_.Return(call);
    }
    return problem;
  }

  absl::Status Judge(const Call& call) const {
    if (!call.status.ok()) {
      return absl::InternalError(absl::StrCat("a call failed: ", call.status.error_message()));
    }
    if (IsRight(call.response, *call.check)) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("a wrong answer: ", call.response.ShortDebugString()));
  }

  const Server server_;
  const std::unique_ptr<v1::ItemService::Stub> stub_;
  RepeatedChecks checks_;
  grpc::CompletionQueue queue_;
  std::vector<Call> calls_;
  FreeCalls free_;
  Clock::time_point counted_from_;
  Clock::time_point end_;
  OpenLoopResult result_;
};

}  // namespace

absl::StatusOr<OpenLoopResult> CheckAtRate(const Server& server, uint64_t items,
                                           double calls_per_second, const Window& window) {
  return OpenLoop(server, items).Run(calls_per_second, window);
}

}  // namespace ttl::bench
