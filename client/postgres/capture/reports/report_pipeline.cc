#include "client/postgres/capture/reports/report_pipeline.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/base/mutex.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

using Request = v1::StreamTrackItemsRequest;

int EntriesOf(const Request& request) {
  return request.has_untrack() ? request.untrack().items_size() : request.request().items_size();
}

// Moves the second half of the entries to `to`.
template <typename List>
void MoveHalf(List& from, List& to) {
  const int half = from.items_size() / 2;
  to.set_container(from.container());
  for (int i = half; i < from.items_size(); ++i) {
    *to.add_items() = std::move(*from.mutable_items(i));
  }
  from.mutable_items()->DeleteSubrange(half, from.items_size() - half);
}

Request SplitOff(Request& request) {
  Request second;
  if (request.has_untrack()) {
    MoveHalf(*request.mutable_untrack(), *second.mutable_untrack());
  } else {
    MoveHalf(*request.mutable_request(), *second.mutable_request());
  }
  return second;
}

Request UntrackInstead(const Request& refused) {
  const v1::Item& item = refused.request().items(0);
  Request request;
  request.mutable_untrack()->set_container(refused.request().container());
  v1::ItemDeletion& deletion = *request.mutable_untrack()->add_items();
  deletion.set_partition_key(item.partition_key());
  deletion.set_id(item.id());
  deletion.set_sequence(item.sequence());
  return request;
}

}  // namespace

ReportPipeline::ReportPipeline(v1::ItemService::Stub& stub, Options options, WallClock clock,
                               std::function<void()> on_change)
    : options_(std::move(options)), clock_(std::move(clock)), on_change_(std::move(on_change)) {
  stub.async()->StreamTrackItems(&context_, this);
  AddHold();
  StartRead(&answer_);
  StartCall();
}

ReportPipeline::~ReportPipeline() {
  const MutexLock lock(mutex_);
  context_.TryCancel();
  Release();
  while (!done_) done_cond_.Wait(mutex_);
}

void ReportPipeline::Add(const std::string& container, Report report) {
  auto place = open_.find(container);
  if (place == open_.end()) {
    ReportBatch batch(container, options_.max_batch_bytes);
    place = open_.emplace(container, OpenBatch{std::move(batch), added_}).first;
  }
  OpenBatch& open = place->second;
  if (open.batch.empty()) open.first_report = added_;
  if (!open.batch.Add(std::move(report))) {
    Send(open);
    open.first_report = added_;
    open.batch.Add(std::move(report));
  }
  ++added_;
  if (open.batch.IsFull()) Send(open);
}

bool ReportPipeline::HasRoom() const {
  const MutexLock lock(mutex_);
  return messages_.size() < options_.max_in_flight + options_.max_waiting;
}

void ReportPipeline::Flush(absl::Time now) {
  if (now < flush_due()) return;
  last_flush_ = now;
  for (auto& [container, open] : open_) {
    if (open.batch.empty()) continue;
    if (!HasFewInFlight()) return;
    Send(open);
  }
}

absl::Time ReportPipeline::flush_due() const {
  const bool is_waiting = std::any_of(open_.begin(), open_.end(),
                                      [](const auto& open) { return !open.second.batch.empty(); });
  return is_waiting && HasFewInFlight() ? last_flush_ + options_.flush_pause
                                        : absl::InfiniteFuture();
}

bool ReportPipeline::HasFewInFlight() const {
  const MutexLock lock(mutex_);
  return messages_.size() < options_.few_in_flight;
}

void ReportPipeline::Send(OpenBatch& open) {
  std::vector<Request> requests = open.batch.Take();
  const MutexLock lock(mutex_);
  for (Request& request : requests) {
    messages_.push_back({std::move(request), open.first_report});
  }
  WriteNext();
}

uint64_t ReportPipeline::durable() const {
  uint64_t durable = added_;
  for (const auto& [container, open] : open_) {
    if (!open.batch.empty()) durable = std::min(durable, open.first_report);
  }
  const MutexLock lock(mutex_);
  // A batch that was started earlier may be sent later.
  for (const Message& message : messages_) durable = std::min(durable, message.first_report);
  return durable;
}

absl::Status ReportPipeline::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

absl::Duration ReportPipeline::waiting_for_answer(absl::Time now) const {
  const MutexLock lock(mutex_);
  return std::max(now - waiting_since_, absl::ZeroDuration());
}

int64_t ReportPipeline::refused() const {
  const MutexLock lock(mutex_);
  return refused_;
}

void ReportPipeline::OnWriteDone(bool) {
  // If the write failed, so does the read.
  const MutexLock lock(mutex_);
  writing_ = false;
  Settle();
}

void ReportPipeline::OnReadDone(bool ok) {
  {
    const MutexLock lock(mutex_);
    if (ok && held_) {
      TakeAnswer();
      Settle();
    }
    if (!ok) Release();
    if (held_) StartRead(&answer_);
  }
  on_change_();
}

void ReportPipeline::OnDone(const grpc::Status& status) {
  {
    const MutexLock lock(mutex_);
    if (status_.ok()) {
      const auto code = static_cast<absl::StatusCode>(status.error_code());
      status_ = absl::Status(
          status.ok() ? absl::StatusCode::kUnavailable : code,
          absl::StrCat("the sidecar at ", options_.address, " has ended the stream of reports",
                       status.ok() ? "" : ": ", status.error_message()));
    }
  }
  on_change_();
  const MutexLock lock(mutex_);
  done_ = true;
  done_cond_.NotifyAll();
}

void ReportPipeline::WriteNext() {
  const bool is_due = written_ < messages_.size() && in_flight() < options_.max_in_flight;
  if (!held_ || writing_ || refused_first_ || !is_due) return;
  if (in_flight() == 0) waiting_since_ = clock_();
  writing_ = true;
  StartWrite(&messages_[written_++].request);
}

void ReportPipeline::TakeAnswer() {
  if (in_flight() == 0) {
    Fail(absl::InternalError(
        absl::StrCat("the sidecar at ", options_.address, " has answered what it was not asked")));
    return;
  }
  const bool is_first = answered_++ == 0;
  waiting_since_ = in_flight() > 0 ? clock_() : absl::InfiniteFuture();
  // After a refusal, all following messages are sent again anyway.
  if (!answer_.has_error() || refused_first_) return;
  const v1::MessageError& error = answer_.error();
  if (is_first && error.code() == static_cast<int>(absl::StatusCode::kInvalidArgument)) {
    refused_first_ = true;
    refusal_ = error.message();
    return;
  }
  Fail(absl::Status(static_cast<absl::StatusCode>(error.code()),
                    absl::StrCat("the sidecar at ", options_.address,
                                 " has refused reports: ", error.message())));
}

void ReportPipeline::Settle() {
  if (!status_.ok()) return;
  if (refused_first_) {
    if (in_flight() == 0 && !writing_) HalveRefused();
  } else {
    // gRPC still uses a message that is being written.
    while (answered_ > 0 && !(writing_ && written_ == 1)) {
      messages_.pop_front();
      --answered_;
      --written_;
    }
  }
  WriteNext();
}

// Splits the refused message, or untracks its only item. The following messages were applied and
// are sent again after the parts, because the order of a key's reports matters.
void ReportPipeline::HalveRefused() {
  Message refused = std::move(messages_.front());
  messages_.pop_front();
  written_ = 0;
  answered_ = 0;
  refused_first_ = false;
  if (EntriesOf(refused.request) > 1) {
    Request second = SplitOff(refused.request);
    messages_.push_front({std::move(second), refused.first_report});
    messages_.push_front(std::move(refused));
    return;
  }
  if (refused.request.has_untrack()) {
    Fail(absl::InvalidArgumentError(
        absl::StrCat("the sidecar at ", options_.address, " has refused a delete: ", refusal_)));
    return;
  }
  ++refused_;
  const v1::Item& item = refused.request.request().items(0);
  spdlog::warn(
      "container \"{}\": the sidecar refuses item \"{}\" / \"{}\" (ts {}), which then never "
      "expires: {}",
      refused.request.request().container(), absl::CHexEscape(item.partition_key()),
      absl::CHexEscape(item.id()), item.ts(), refusal_);
  messages_.push_front({UntrackInstead(refused.request), refused.first_report});
}

void ReportPipeline::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
  context_.TryCancel();
  Release();
}

void ReportPipeline::Release() {
  if (!std::exchange(held_, false)) return;
  RemoveHold();
}

}  // namespace ttl::postgres
