#include "service/rpc/services/container_watches.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/rpc/mapping/request_validation.h"
#include "service/rpc/services/watch_position.h"
#include "service/transport/calls/async_write_stream.h"
#include "service/transport/calls/message_exchange.h"
#include "service/transport/calls/method_gate.h"
#include "service/transport/calls/queued_method.h"
#include "ttl/v1/container_service.pb.h"

namespace ttl {
namespace {

// For intervals only; times in messages come from the guarded clock.
using WaitClock = std::chrono::steady_clock;

constexpr char kMethodName[] = "WatchContainers";

// Wait while there are no streams.
constexpr absl::Duration kIdle = absl::Minutes(1);

bool Knows(const v1::WatchContainersRequest& request, v1::JudgingRule rule) {
  return std::count(request.rules().begin(), request.rules().end(), rule) > 0;
}

}  // namespace

// One stream. Its messages are sent by the thread of ContainerWatches or that of the call queue.
class ContainerWatches::Stream final : public AsyncWriteStream {
 public:
  explicit Stream(Method& method);

  // Sends the next message if one is due. Returns how long until the next call at the latest.
  absl::Duration SendDue() {
    SendNext();
    const absl::Duration left = UntilHeartbeat();
    // Zero or less only if the watcher reads too slowly: check again now and then.
    return left > absl::ZeroDuration() ? left : heartbeat_ / 8;
  }

 private:
  void OnOpen(grpc::ByteBuffer& request) override;
  void OnEnded() override { owner_.Remove(*this); }

  bool MakeNext(grpc::ByteBuffer& message) override {
    response_.Clear();
    if (!position_.NextNews(response_)) {
      if (UntilHeartbeat() > absl::ZeroDuration()) return false;
      position_.Heartbeat(response_);
    }
    message = SerializeMessage(response_);
    last_sent_ = WaitClock::now();
    return true;
  }

  absl::Duration UntilHeartbeat() const {
    return heartbeat_ - absl::FromChrono(WaitClock::now() - last_sent_.load());
  }

  Method& method_;
  ContainerWatches& owner_;
  absl::Duration heartbeat_;  // constant once it is open
  std::atomic<WaitClock::time_point> last_sent_ = WaitClock::now();
  // Used by MakeNext() only.
  WatchPosition position_;
  v1::WatchContainersResponse response_;
};

// Accepts streams on one queue, one at a time.
class ContainerWatches::Method final : public QueuedMethod {
 public:
  Method(ContainerWatches& owner, MethodTable& table)
      : owner_(owner),
        endpoint_(table.endpoint()),
        queue_(table.queue()),
        method_(table.Find(kMethodName)),
        counter_(queue_.counters().AddStream(NameOf(method_))),
        gate_(NameOf(method_), queue_.access()) {
    Accept();
  }

  ContainerWatches& owner() { return owner_; }
  const MethodGate& gate() const { return gate_; }

  void Accept() { std::make_shared<Stream>(*this)->Accept(queue_, counter_, endpoint_, method_); }

  void EndStreams(const absl::Status& status) override { owner_.EndStreams(status); }

 private:
  ContainerWatches& owner_;
  ByteService& endpoint_;
  CallQueue& queue_;
  const google::protobuf::MethodDescriptor& method_;
  MethodCounter& counter_;
  const MethodGate gate_;
};

ContainerWatches::Stream::Stream(Method& method)
    : method_(method),
      owner_(method.owner()),
      position_(method.owner().containers_, method.owner().holds_, method.owner().clock_) {}

void ContainerWatches::Stream::OnOpen(grpc::ByteBuffer& bytes) {
  method_.Accept();
  if (const absl::Status admitted = method_.gate().Admit(context()); !admitted.ok()) {
    return End(admitted);
  }
  v1::WatchContainersRequest request;
  if (!ParseMessage(bytes, request)) return End(UnparsableRequest());
  const absl::StatusOr<absl::Duration> heartbeat =
      ReadHeartbeatInterval(request.has_heartbeat_interval(), request.heartbeat_interval());
  if (!heartbeat.ok()) return End(heartbeat.status());
  heartbeat_ = *heartbeat;
  if (Knows(request, v1::JUDGING_RULE_EXPIRE_AT)) position_.TellExpireAt();
  if (Knows(request, v1::JUDGING_RULE_SHOW_HELD)) position_.TellShowHeld();
  if (Knows(request, v1::JUDGING_RULE_TOUCH)) position_.TellTouch();
  const absl::Status added = owner_.Add(std::static_pointer_cast<Stream>(shared_from_this()));
  if (!added.ok()) return End(added);
  SendDue();
  owner_.signal_.Notify();  // the loop has a new heartbeat to wait for
}

ContainerWatches::ContainerWatches(Containers& containers, const Holds& holds,
                                   const GuardedClock& clock)
    : containers_(containers),
      holds_(holds),
      clock_(clock),
      loop_(signal_, [this] { return SendAllDue(); }) {
  containers_.AddListener(signal_);
}

ContainerWatches::~ContainerWatches() { containers_.RemoveListener(signal_); }

void ContainerWatches::AddMethod(MethodTable& table) {
  table.Add(kMethodName, std::make_unique<Method>(*this, table));
}

void ContainerWatches::EndStreams(const absl::Status& status) {
  {
    const MutexLock lock(mutex_);
    end_status_ = status;
  }
  for (const auto& stream : OpenStreams()) stream->End(status);
}

absl::Status ContainerWatches::Add(const std::shared_ptr<Stream>& stream) {
  MutexLock lock(mutex_);
  if (!end_status_.ok()) return end_status_;
  if (streams_.size() >= kMaxWatches) {
    return MakeError(Reason::kTooManyStreams,
                     absl::StrCat("there are ", streams_.size(),
                                  " watchers, which is the maximum: share one per process"),
                     {{"limit", absl::StrCat(kMaxWatches)}});
  }
  streams_.push_back(stream);
  return absl::OkStatus();
}

void ContainerWatches::Remove(const Stream& stream) {
  MutexLock lock(mutex_);
  std::erase_if(streams_, [&stream](const auto& open) { return open.get() == &stream; });
}

ContainerWatches::Streams ContainerWatches::OpenStreams() const {
  MutexLock lock(mutex_);
  return streams_;
}

absl::Duration ContainerWatches::SendAllDue() {
  absl::Duration wait = kIdle;
  for (const auto& stream : OpenStreams()) wait = std::min(wait, stream->SendDue());
  return wait;
}

}  // namespace ttl
