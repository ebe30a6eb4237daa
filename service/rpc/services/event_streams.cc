#include "service/rpc/services/event_streams.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/status_macros.h"
#include "service/rpc/mapping/feed_mapping.h"
#include "service/transport/calls/async_write_stream.h"
#include "service/transport/calls/message_exchange.h"
#include "service/transport/calls/method_gate.h"
#include "service/transport/calls/queued_method.h"
#include "ttl/v1/feed_service.pb.h"

// A message is made in two steps, because gRPC asks for the next one on a call thread, where
// nothing may be read from disk: the thread of EventStreams reads it from the log when the stream
// has nothing in flight, and then lets it be sent. When gRPC has sent it and asks for the next one,
// the stream only wakes that thread.

namespace ttl {
namespace {

// For intervals only; times in messages come from the guarded clock.
using SteadyClock = std::chrono::steady_clock;

constexpr char kWatchEvents[] = "WatchEvents";

// Wait while there is nothing to do.
constexpr absl::Duration kNoStreams = absl::Minutes(1);

// How often at most events of other kinds are acknowledged on behalf of a subscription.
constexpr absl::Duration kPassInterval = absl::Seconds(5);

}  // namespace

// One stream. All but MakeNext() and the ends run on the thread of EventStreams.
class EventStreams::Stream final : public AsyncWriteStream {
 public:
  explicit Stream(Method& method);

  // Reads and sends the next message if one is due. Returns how long until the next call at the
  // latest.
  absl::Duration SendDue();

 private:
  enum class State {
    kIdle,      // nothing is in flight
    kReady,     // prepared_ can be sent
    kInFlight,  // it was passed to gRPC
  };

  void OnOpen(grpc::ByteBuffer& request) override;
  absl::Status Open(grpc::ByteBuffer& request);
  void OnStalled() override { LeavePlace(); }
  void OnEnded() override { LeavePlace(); }
  void LeavePlace();
  bool MakeNext(grpc::ByteBuffer& message) override;

  void Send(const v1::WatchEventsResponse& message);
  void AcknowledgePassed();
  absl::Duration UntilHeartbeat() const {
    return position_->heartbeat() - absl::FromChrono(SteadyClock::now() - last_sent_);
  }

  Method& method_;
  EventStreams& owner_;
  bool is_counted_ = false;                // in SentMarks
  std::optional<EventPosition> position_;  // constant once it is open, but for its sequence
  SteadyClock::time_point last_sent_ = SteadyClock::now();
  SteadyClock::time_point last_passed_ = SteadyClock::now();
  // prepared_ belongs to the thread of EventStreams while the state is kIdle, otherwise to
  // MakeNext().
  std::atomic<State> state_ = State::kIdle;
  grpc::ByteBuffer prepared_;
};

// Accepts streams on one queue, one at a time.
class EventStreams::Method final : public QueuedMethod {
 public:
  Method(EventStreams& owner, MethodTable& table)
      : owner_(owner),
        endpoint_(table.endpoint()),
        queue_(table.queue()),
        method_(table.Find(kWatchEvents)),
        counter_(queue_.counters().AddStream(NameOf(method_))),
        gate_(NameOf(method_), queue_.access()) {
    Accept();
  }

  EventStreams& owner() { return owner_; }
  const MethodGate& gate() const { return gate_; }

  void Accept() { std::make_shared<Stream>(*this)->Accept(queue_, counter_, endpoint_, method_); }

  void EndStreams(const absl::Status& status) override { owner_.EndStreams(status); }

 private:
  EventStreams& owner_;
  ByteService& endpoint_;
  CallQueue& queue_;
  const google::protobuf::MethodDescriptor& method_;
  MethodCounter& counter_;
  const MethodGate gate_;
};

EventStreams::Stream::Stream(Method& method)
    : AsyncWriteStream(method.owner().stall_limit_), method_(method), owner_(method.owner()) {}

void EventStreams::Stream::OnOpen(grpc::ByteBuffer& bytes) {
  method_.Accept();
  if (const absl::Status opened = Open(bytes); !opened.ok()) return End(opened);
  owner_.signal_.Notify();
}

absl::Status EventStreams::Stream::Open(grpc::ByteBuffer& bytes) {
  TTL_RETURN_IF_ERROR(method_.gate().Admit(context()));
  v1::WatchEventsRequest request;
  if (!ParseMessage(bytes, request)) return UnparsableRequest();
  TTL_ASSIGN_OR_RETURN(WatchRequest watch, ReadWatchRequest(request));
  TTL_ASSIGN_OR_RETURN(EventPosition position,
                       EventPosition::Open(owner_.parts_, std::move(watch)));
  position_.emplace(std::move(position));
  is_counted_ = !position_->subscription().empty();
  if (is_counted_) owner_.parts_.sent.Open(position_->feed(), position_->subscription());
  return owner_.Add(std::static_pointer_cast<Stream>(shared_from_this()));
}

// Others may have its place at once, even if its client never reads that it has ended.
void EventStreams::Stream::LeavePlace() {
  if (std::exchange(is_counted_, false)) {
    owner_.parts_.sent.Close(position_->feed(), position_->subscription());
  }
  owner_.Remove(*this);
}

bool EventStreams::Stream::MakeNext(grpc::ByteBuffer& message) {
  if (state_ == State::kReady) {
    message = std::move(prepared_);
    state_ = State::kInFlight;
    return true;
  }
  state_ = State::kIdle;
  owner_.signal_.Notify();
  return false;
}

absl::Duration EventStreams::Stream::SendDue() {
  if (state_ != State::kIdle) return kNoStreams;  // it wakes the thread when it is sent
  const absl::StatusOr<EventPosition::Found> found = position_->Next(owner_.response_);
  if (!found.ok()) {
    End(found.status());
    return kNoStreams;
  }
  if (*found == EventPosition::Found::kEvents) {
    Send(owner_.response_);
    return kNoStreams;
  }
  if (*found == EventPosition::Found::kNothing) AcknowledgePassed();
  if (UntilHeartbeat() <= absl::ZeroDuration()) {
    position_->Heartbeat(owner_.response_);
    Send(owner_.response_);
    return kNoStreams;
  }
  return *found == EventPosition::Found::kMore ? absl::ZeroDuration() : UntilHeartbeat();
}

void EventStreams::Stream::Send(const v1::WatchEventsResponse& message) {
  prepared_ = SerializeMessage(message);
  last_sent_ = SteadyClock::now();
  state_ = State::kReady;
  SendNext();
}

// Without this a subscription that reads few kinds would seem to fall behind, and would lose
// events, because of others that it never reads.
void EventStreams::Stream::AcknowledgePassed() {
  const SteadyClock::time_point now = SteadyClock::now();
  if (absl::FromChrono(now - last_passed_) < kPassInterval) return;
  const std::optional<uint64_t> passed = position_->PassedSequence();
  if (!passed.has_value()) return;
  last_passed_ = now;
  // After an error the next one passes these events, too.
  owner_.feed_.Acknowledge(position_->container(), position_->subscription(), position_->epoch(),
                           *passed, [](const absl::StatusOr<uint64_t>& /*acknowledged*/) {});
}

EventStreams::EventStreams(Feed& feed, const EventPosition::Parts& parts,
                           absl::Duration stall_limit)
    : feed_(feed),
      parts_(parts),
      stall_limit_(stall_limit),
      loop_(signal_, [this] { return SendAllDue(); }) {
  feed_.AddListener(signal_);
}

EventStreams::~EventStreams() { feed_.RemoveListener(signal_); }

void EventStreams::AddMethod(MethodTable& table) {
  table.Add(kWatchEvents, std::make_unique<Method>(*this, table));
}

void EventStreams::EndStreams(const absl::Status& status) {
  {
    const MutexLock lock(mutex_);
    end_status_ = status;
  }
  for (const auto& stream : OpenStreams()) stream->End(status);
}

absl::Status EventStreams::Add(const std::shared_ptr<Stream>& stream) {
  const MutexLock lock(mutex_);
  if (!end_status_.ok()) return end_status_;
  if (streams_.size() >= kMaxStreams) {
    return MakeError(
        Reason::kTooManyStreams,
        absl::StrCat("there are ", streams_.size(),
                     " streams of events, which is the maximum: share one per process"),
        {{"limit", absl::StrCat(kMaxStreams)}});
  }
  streams_.push_back(stream);
  return absl::OkStatus();
}

void EventStreams::Remove(const Stream& stream) {
  const MutexLock lock(mutex_);
  std::erase_if(streams_, [&stream](const auto& open) { return open.get() == &stream; });
}

EventStreams::Streams EventStreams::OpenStreams() const {
  const MutexLock lock(mutex_);
  return streams_;
}

absl::Duration EventStreams::SendAllDue() {
  absl::Duration wait = kNoStreams;
  for (const auto& stream : OpenStreams()) wait = std::min(wait, stream->SendDue());
  return wait;
}

}  // namespace ttl
