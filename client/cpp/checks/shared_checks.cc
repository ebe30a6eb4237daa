#include "client/cpp/checks/shared_checks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/checks/visibility_answers.h"
#include "client/cpp/detail_payloads.h"
#include "client/cpp/grpc_status.h"

// A check joins the open message of its container in waiting_. If there is no leader, its caller
// becomes one; otherwise it waits on the message's condition variable. The leader sends waiting_ as
// a round only when nothing is in flight: checks that arrive during a round trip form the next
// round, which is what batches them without a timer.
//
// A caller leaves when its message is settled or its deadline has passed. Some caller must lead as
// long as any is waiting, so whoever leaves without a leader in place notifies a caller of the
// oldest message that has one (Successors). The one notified may itself be leaving, so a caller
// that leaves without an answer passes the notification on.
//
// mutex_ guards the waiting messages and the lead. The leader releases it while it sends and
// receives: the stream and the messages in flight belong to the leader, and pass to the next one
// with the lead.
namespace ttl {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Limits in item_service.proto.
constexpr size_t kMaxPartitionKeyBytes = 2048;
constexpr size_t kMaxIdBytes = 1023;

// Longer deadlines are cut, because they would overflow an instant.
constexpr absl::Duration kMaxDeadline = absl::Hours(24 * 365);

// A stream is not given up before it was silent for this long, however short deadlines are.
constexpr nanoseconds kLeastPatience = std::chrono::milliseconds(10);

// Whether the server will refuse the check, and with it every other check in the message.
bool IsRefusedAnyway(const v1::VisibilityCheck& check) {
  return check.partition_key().size() > kMaxPartitionKeyBytes || check.id().size() > kMaxIdBytes;
}

// Whether a unary call for one check may have another result than its message with `error`: unary
// calls are retried while the server is unavailable, and most errors of a message concern one of
// its checks.
bool IsWorthAskingAgain(const absl::Status& error, size_t checks) {
  if (absl::IsUnavailable(error)) return true;
  return checks > 1 && !absl::IsNotFound(error) && !absl::IsResourceExhausted(error);
}

// An invalid code, or OK, becomes UNKNOWN.
absl::Status ToAbslStatus(const v1::MessageError& error) {
  const bool known =
      error.code() > grpc::StatusCode::OK && error.code() <= grpc::StatusCode::UNAUTHENTICATED;
  // Both enums have the same values.
  absl::Status status(
      known ? static_cast<absl::StatusCode>(error.code()) : absl::StatusCode::kUnknown,
      error.message());
  AddDetails(error.status_details(), status);
  return status;
}

}  // namespace

SharedChecks::SharedChecks(v1::ItemService::Stub& stub, Options options, AskAlone ask_alone)
    : stub_(stub), options_(std::move(options)), ask_alone_(std::move(ask_alone)) {}

SharedChecks::~SharedChecks() = default;

SharedChecks::Message::Message(absl::string_view container) {
  request.set_container(std::string(container));
}

absl::StatusOr<VisibilityAnswer> SharedChecks::Check(absl::string_view container,
                                                     const v1::VisibilityCheck& check,
                                                     absl::Duration deadline) {
  const Instant now = steady_clock::now();
  const nanoseconds allowed =
      absl::ToChronoNanoseconds(std::clamp(deadline, absl::ZeroDuration(), kMaxDeadline));
  const Limit limit = {allowed, now + allowed};
  if (IsRefusedAnyway(check) || allowed == nanoseconds::zero()) {
    return AskByItself(container, check, limit);
  }
  auto copy = std::make_unique<v1::VisibilityCheck>(check);
  Lock lock(mutex_);
  if (!MayShare(now)) {
    lock.unlock();
    return AskByItself(container, check, limit);
  }
  if (checks_waiting_ >= options_.max_waiting) return TooManyWait();
  const MessagePtr message = OpenMessage(container);
  const size_t position = message->checks++;
  message->request.mutable_checks()->AddAllocated(copy.release());
  ++checks_waiting_;
  if (!Await(std::move(lock), *message, limit)) return TooLate(limit);
  const Verdict& verdict = message->verdict;
  if (!verdict.has_value()) return AskByItself(container, check, limit);
  if (!verdict->ok()) return verdict->status();
  return (**verdict)[position];
}

size_t SharedChecks::waiting() const {
  const Lock lock(mutex_);
  return checks_waiting_;
}

absl::StatusOr<VisibilityAnswer> SharedChecks::AskByItself(absl::string_view container,
                                                           const v1::VisibilityCheck& check,
                                                           const Limit& limit) const {
  const nanoseconds left = limit.deadline - steady_clock::now();
  if (left <= nanoseconds::zero()) return TooLate(limit);
  absl::StatusOr<VisibilityAnswer> answer = ask_alone_(container, check, absl::FromChrono(left));
  return absl::IsDeadlineExceeded(answer.status()) ? TooLate(limit) : answer;
}

absl::Status SharedChecks::TooLate(const Limit& limit) const {
  return ToAbslStatus(grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded"),
                      options_.address, absl::FromChrono(limit.allowed));
}

bool SharedChecks::MayShare(Instant now) const { return !alone_for_good_ && now >= alone_until_; }

absl::Status SharedChecks::TooManyWait() const {
  return absl::ResourceExhaustedError(
      absl::StrCat(checks_waiting_, " checks wait to be sent to the sidecar at ", options_.address,
                   ", which is the maximum: try again later"));
}

SharedChecks::MessagePtr SharedChecks::OpenMessage(absl::string_view container) {
  MessagePtr& open = open_[container];
  if (open == nullptr || open->checks >= options_.max_checks_per_message) {
    open = std::make_shared<Message>(container);
    waiting_.push_back(open);
  }
  return open;
}

SharedChecks::MessagePtr SharedChecks::Successors() const {
  const auto is_awaited = [](const MessagePtr& message) { return message->present > 0; };
  const auto sent = std::find_if(in_flight_.begin(), in_flight_.end(), is_awaited);
  if (sent != in_flight_.end()) return *sent;
  const auto waiting = std::find_if(waiting_.begin(), waiting_.end(), is_awaited);
  return waiting != waiting_.end() ? *waiting : nullptr;
}

void SharedChecks::Settle(const MessagePtr& message, Verdict verdict) {
  message->verdict = std::move(verdict);
  message->settled = true;
  settled_.push_back(message);
}

void SharedChecks::SettleWaiting() {
  for (const MessagePtr& message : waiting_) Settle(message, std::nullopt);
  waiting_.clear();
  checks_waiting_ = 0;
  open_.clear();
}

bool SharedChecks::Await(Lock lock, Message& own, const Limit& limit) {
  bool led = false;
  ++own.present;
  while (!own.settled) {
    led = !led_;
    if (led) Lead(lock, own, limit);
    if (led || own.changed.wait_until(lock, limit.deadline) == std::cv_status::timeout) break;
  }
  --own.present;
  // Some caller must lead. A caller without an answer may have been the one notified.
  const bool calls = !led_ && (led || !own.settled);
  const MessagePtr successors = calls ? Successors() : nullptr;
  const bool settled = own.settled;
  lock.unlock();
  if (successors != nullptr) successors->changed.notify_one();
  return settled;
}

void SharedChecks::Lead(Lock& lock, const Message& own, const Limit& limit) {
  led_ = true;
  SendWaiting(lock);
  while (!own.settled && Receive(lock, limit.deadline)) {
    // First, because answered callers may check again, and so join what is sent next.
    WakeSettled(lock);
    SendWaiting(lock);
  }
  if (!own.settled && IsStuck(limit.allowed)) {
    DropStream(lock);
    WakeSettled(lock);
  }
  led_ = false;
}

void SharedChecks::SendWaiting(Lock& lock) {
  if (waiting_.empty() || !in_flight_.empty()) return;
  const std::vector<MessagePtr> round = std::exchange(waiting_, {});
  checks_waiting_ = 0;
  open_.clear();
  in_flight_.insert(in_flight_.end(), round.begin(), round.end());
  lock.unlock();
  if (stream_ == nullptr) stream_ = std::make_unique<CheckStream>(stub_);
  for (const MessagePtr& message : round) stream_->Send(std::move(message->request));
  last_progress_ = steady_clock::now();
  lock.lock();
}

bool SharedChecks::Receive(Lock& lock, Instant deadline) {
  lock.unlock();
  const CheckStream::Event event = stream_->Next(deadline);
  const bool answered = event == CheckStream::Event::kAnswer;
  Verdict verdict = answered ? Judge(*in_flight_.front(), stream_->answer()) : std::nullopt;
  lock.lock();
  if (answered) {
    Settle(in_flight_.front(), std::move(verdict));
    in_flight_.pop_front();
    last_progress_ = steady_clock::now();
  }
  if (event == CheckStream::Event::kEnd) EndStream(lock);
  return event != CheckStream::Event::kDeadline;
}

void SharedChecks::EndStream(Lock& lock) {
  if (!stream_->answered()) {
    alone_for_good_ = stream_->end().error_code() == grpc::StatusCode::UNIMPLEMENTED;
    alone_until_ = steady_clock::now() + options_.rest;
    SettleWaiting();
  }
  DropStream(lock);
}

void SharedChecks::DropStream(Lock& lock) {
  for (const MessagePtr& message : in_flight_) Settle(message, std::nullopt);
  in_flight_.clear();
  lock.unlock();
  stream_.reset();
  lock.lock();
}

void SharedChecks::WakeSettled(Lock& lock) {
  lock.unlock();
  for (const MessagePtr& message : settled_) message->changed.notify_all();
  settled_.clear();
  lock.lock();
}

bool SharedChecks::IsStuck(nanoseconds waited) const {
  const nanoseconds silence = steady_clock::now() - last_progress_;
  return !in_flight_.empty() && silence >= std::max(waited / 2, kLeastPatience);
}

SharedChecks::Verdict SharedChecks::Judge(const Message& message,
                                          const v1::StreamCheckVisibilityResponse& response) const {
  if (!response.has_error()) {
    return ToVisibilityAnswers("StreamCheckVisibility", response.response(), message.checks);
  }
  const absl::Status error = ToAbslStatus(response.error());
  if (IsWorthAskingAgain(error, message.checks)) return std::nullopt;
  return error;
}

}  // namespace ttl
