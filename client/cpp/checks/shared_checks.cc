#include "client/cpp/checks/shared_checks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/checks/visibility_answers.h"
#include "client/cpp/grpc_status.h"

namespace ttl {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Of item_service.proto.
constexpr size_t kMaxPartitionKeyBytes = 2048;
constexpr size_t kMaxIdBytes = 1023;

// Longer deadlines are no different, and would not fit into an instant.
constexpr absl::Duration kMaxDeadline = absl::Hours(24 * 365);

// A stream that is silent for less is not given up, however short deadlines are.
constexpr nanoseconds kLeastPatience = std::chrono::milliseconds(10);

// By the server, with everything else in the same message.
bool IsRefusedAnyway(const v1::VisibilityCheck& check) {
  return check.partition_key().size() > kMaxPartitionKeyBytes || check.id().size() > kMaxIdBytes;
}

// Whether an error of a message may not be what a call with one of its checks would end
// with: that is repeated while the server is unavailable, and most errors of several
// checks are about one of them.
bool IsWorthAskingAgain(const absl::Status& error, size_t checks) {
  if (absl::IsUnavailable(error)) return true;
  return checks > 1 && !absl::IsNotFound(error) && !absl::IsResourceExhausted(error);
}

// A code that is none, or none that an error can have, is UNKNOWN.
absl::Status ToAbslStatus(const v1::MessageError& error) {
  const bool known =
      error.code() > grpc::StatusCode::OK && error.code() <= grpc::StatusCode::UNAUTHENTICATED;
  // Both enums take their numbers from the same list.
  return absl::Status(
      known ? static_cast<absl::StatusCode>(error.code()) : absl::StatusCode::kUnknown,
      error.message());
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
  const size_t place = message->checks++;
  message->request.mutable_checks()->AddAllocated(copy.release());
  ++checks_waiting_;
  if (!Await(std::move(lock), *message, limit)) return TooLate(limit);
  const Verdict& verdict = message->verdict;
  if (!verdict.has_value()) return AskByItself(container, check, limit);
  if (!verdict->ok()) return verdict->status();
  return (**verdict)[place];
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
                   ", which is the most that may; try again later"));
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
  const auto sent = std::find_if(under_way_.begin(), under_way_.end(), is_awaited);
  if (sent != under_way_.end()) return *sent;
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
  // Somebody has to lead. One who is not answered may have been called to, and left.
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
    // First, since who has an answer may well ask again, and come with what is sent.
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
  if (waiting_.empty() || !under_way_.empty()) return;
  const std::vector<MessagePtr> round = std::exchange(waiting_, {});
  checks_waiting_ = 0;
  open_.clear();
  under_way_.insert(under_way_.end(), round.begin(), round.end());
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
  Verdict verdict = answered ? Judge(*under_way_.front(), stream_->answer()) : std::nullopt;
  lock.lock();
  if (answered) {
    Settle(under_way_.front(), std::move(verdict));
    under_way_.pop_front();
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
  for (const MessagePtr& message : under_way_) Settle(message, std::nullopt);
  under_way_.clear();
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
  return !under_way_.empty() && silence >= std::max(waited / 2, kLeastPatience);
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
