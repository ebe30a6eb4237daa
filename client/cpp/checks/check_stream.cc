#include "client/cpp/checks/check_stream.h"

#include <cstdint>
#include <utility>

#include "grpc/support/time.h"

namespace ttl {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Tags of operations in the completion queue.
enum class Step : intptr_t { kWrite = 1, kRead, kFinish };

void* Tag(Step step) { return reinterpret_cast<void*>(step); }

// A deadline on gRPC's monotonic clock.
gpr_timespec GrpcTime(steady_clock::time_point instant) {
  const nanoseconds left = instant - steady_clock::now();
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(left.count(), GPR_TIMESPAN));
}

}  // namespace

CheckStream::CheckStream(v1::ItemService::Stub& stub) {
  // The initial metadata goes with the first message, so that no caller waits for it.
  context_.set_initial_metadata_corked(true);
  call_ = stub.PrepareAsyncStreamCheckVisibility(&context_, &queue_);
  call_->StartCall(nullptr);
}

CheckStream::~CheckStream() {
  context_.TryCancel();
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

void CheckStream::Send(v1::CheckVisibilityRequest request) {
  if (broken_) return;
  *unwritten_.emplace_back().mutable_request() = std::move(request);
  if (!writing_) Write();
}

CheckStream::Event CheckStream::Next(steady_clock::time_point deadline) {
  if (!reading_) Read();
  const gpr_timespec until = GrpcTime(deadline);
  for (;;) {
    void* tag = nullptr;
    bool ok = false;
    if (queue_.AsyncNext(&tag, &ok, until) != grpc::CompletionQueue::GOT_EVENT) {
      return Event::kDeadline;
    }
    switch (static_cast<Step>(reinterpret_cast<intptr_t>(tag))) {
      case Step::kWrite:
        writing_ = false;
        broken_ = broken_ || !ok;
        if (!broken_ && !unwritten_.empty()) Write();
        break;
      case Step::kRead:
        if (!ok) {
          call_->Finish(&end_, Tag(Step::kFinish));
          break;
        }
        reading_ = false;
        answered_ = true;
        return Event::kAnswer;
      case Step::kFinish:
        return Event::kEnd;
    }
  }
}

void CheckStream::Write() {
  writing_ = true;
  call_->Write(unwritten_.front(), Tag(Step::kWrite));
  unwritten_.pop_front();  // gRPC has serialized it
}

void CheckStream::Read() {
  reading_ = true;
  call_->Read(&answer_, Tag(Step::kRead));
}

}  // namespace ttl
