#include "tests/fault/feed_consumer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

constexpr absl::Duration kStreamDeadline = absl::Minutes(10);
constexpr absl::Duration kCallDeadline = absl::Seconds(20);
constexpr size_t kMostConsumerProblems = 20;

// How often a position is kept, and a stream ended by its reader after a response.
constexpr double kKeepsPosition = 0.5;
constexpr double kEndsStream = 0.02;

std::string TextOf(const v1::Event& event) {
  return absl::StrCat(v1::EventKind_Name(event.kind()), " ", event.container(), "/", event.id(),
                      " of ts ", event.ts(), ", sequence ", event.sequence());
}

void SetDeadline(grpc::ClientContext& context, absl::Duration deadline) {
  context.set_deadline(absl::ToChronoTime(absl::Now() + deadline));
}

}  // namespace

FeedConsumer::FeedConsumer(std::shared_ptr<grpc::Channel> channel, FeedSource source, uint64_t seed)
    : channel_(std::move(channel)),
      source_(std::move(source)),
      stub_(v1::FeedService::NewStub(channel_)),
      random_(seed),
      token_(source_.token),
      thread_([this] { Run(); }) {}

FeedConsumer::~FeedConsumer() { Stop(); }

void FeedConsumer::Stop() {
  {
    const MutexLock lock(mutex_);
    stops_ = true;
    if (context_ != nullptr) context_->TryCancel();
  }
  if (thread_.joinable()) thread_.join();
}

bool FeedConsumer::AwaitSequence(uint64_t sequence, absl::Duration deadline) {
  return WaitUntil(
      [&] {
        const MutexLock lock(mutex_);
        return last_sequence_ >= sequence;
      },
      deadline);
}

bool FeedConsumer::AwaitKind(v1::EventKind kind, absl::Duration deadline) {
  return WaitUntil(
      [&] {
        const MutexLock lock(mutex_);
        return kinds_.contains(kind);
      },
      deadline);
}

void FeedConsumer::Run() {
  while (true) {
    {
      const MutexLock lock(mutex_);
      if (stops_) return;
    }
    ReadStream();
  }
}

v1::WatchEventsRequest FeedConsumer::Request() const {
  v1::WatchEventsRequest request;
  request.mutable_heartbeat_interval()->set_nanos(100'000'000);
  if (!source_.subscription.empty()) {
    request.mutable_subscription()->set_container(source_.containers[0]);
    request.mutable_subscription()->set_name(source_.subscription);
    return request;
  }
  for (const std::string& id : source_.containers) request.mutable_containers()->add_ids(id);
  request.mutable_containers()->set_token(token_);
  return request;
}

void FeedConsumer::ReadStream() {
  grpc::ClientContext context;
  SetDeadline(context, kStreamDeadline);
  context.set_wait_for_ready(true);
  {
    const MutexLock lock(mutex_);
    if (stops_) return;
    context_ = &context;
  }
  ++streams_;
  position_ = kept_;
  repeated_after_ = may_be_kept_;
  const auto reader = stub_->WatchEvents(&context, Request());
  v1::WatchEventsResponse response;
  bool goes_on = true;
  while (goes_on && reader->Read(&response)) goes_on = Take(response);
  // Only then: it would hide that the server has ended the stream.
  if (!goes_on) context.TryCancel();
  while (reader->Read(&response)) continue;
  JudgeEnd(reader->Finish());
  const MutexLock lock(mutex_);
  context_ = nullptr;
}

bool FeedConsumer::Take(const v1::WatchEventsResponse& response) {
  if (epoch_ == 0) epoch_ = response.epoch();
  if (epoch_ != response.epoch()) Note("the log has another epoch");
  for (const v1::Event& event : response.events()) TakeEvent(event);
  watermark_ = std::max(watermark_, response.watermark().seconds());
  if (random_.Chance(kKeepsPosition)) KeepPosition(response);
  const MutexLock lock(mutex_);
  last_sequence_ = std::max(last_sequence_, position_);
  for (const v1::Event& event : response.events()) kinds_.insert(event.kind());
  return !stops_ && !(source_.ends_streams && random_.Chance(kEndsStream));
}

void FeedConsumer::TakeEvent(const v1::Event& event) {
  const uint64_t sequence = event.sequence();
  if (sequence <= position_) {
    Note(absl::StrCat(TextOf(event), " comes behind ", position_, ", of which ", kept_,
                      " was kept"));
  }
  const auto left_out = events_.upper_bound(std::max(position_, repeated_after_));
  if (left_out != events_.end() && left_out->first < sequence) {
    Note(absl::StrCat(TextOf(left_out->second), " does not come again"));
  }
  const auto [seen, is_new] = events_.emplace(sequence, event);
  if (!is_new) {
    ++read_again_;
    if (seen->second.SerializeAsString() != event.SerializeAsString()) {
      Note(absl::StrCat(TextOf(event), " was ", TextOf(seen->second)));
    }
  } else if (event.kind() == v1::EVENT_KIND_EXPIRED && !event.late() &&
             event.expire_time() <= watermark_) {
    Note(absl::StrCat(TextOf(event), " expired at ", event.expire_time(), ", which the watermark ",
                      watermark_, " covers"));
  }
  position_ = sequence;
}

void FeedConsumer::KeepPosition(const v1::WatchEventsResponse& response) {
  if (!source_.subscription.empty()) return Acknowledge(response.epoch());
  token_ = response.token();
  kept_ = may_be_kept_ = position_;
}

// Refused, after a restart, with what was sent before; and lost with a server that is killed.
void FeedConsumer::Acknowledge(uint64_t epoch) {
  if (position_ <= kept_) return;
  grpc::ClientContext context;
  SetDeadline(context, kCallDeadline);
  v1::AcknowledgeRequest request;
  request.set_container(source_.containers[0]);
  request.set_name(source_.subscription);
  request.set_epoch(epoch);
  request.set_sequence(position_);
  v1::AcknowledgeResponse response;
  may_be_kept_ = std::max(may_be_kept_, position_);
  const grpc::Status status = stub_->Acknowledge(&context, request, &response);
  if (status.ok()) {
    if (response.acknowledged_sequence() < position_) Note("an acknowledgement is not accepted");
    kept_ = response.acknowledged_sequence();
  } else if (status.error_code() != grpc::StatusCode::UNAVAILABLE &&
             status.error_code() != grpc::StatusCode::OUT_OF_RANGE) {
    Note(absl::StrCat("Acknowledge failed: ", status.error_message()));
  }
}

void FeedConsumer::JudgeEnd(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    // A change of policy may just have been committed. After a restart what expires by it is late
    // by the second of the change.
    watermark_ = std::max<int64_t>(watermark_ - 1, 0);
    return;
  }
  if (status.error_code() == grpc::StatusCode::CANCELLED) return;
  Note(absl::StrCat("the stream ended: ", status.error_code(), " ", status.error_message()));
}

void FeedConsumer::Note(std::string problem) {
  if (problems_.size() < kMostConsumerProblems) problems_.push_back(std::move(problem));
}

}  // namespace ttl
