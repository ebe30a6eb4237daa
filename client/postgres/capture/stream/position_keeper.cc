#include "client/postgres/capture/stream/position_keeper.h"

#include <chrono>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/client_context.h"
#include "service/base/mutex.h"

namespace ttl::postgres {
namespace {

constexpr std::chrono::seconds kDeadline(30);

}  // namespace

struct PositionKeeper::Call {
  grpc::ClientContext context;
  v1::GetSourcePositionRequest get;
  v1::GetSourcePositionResponse got;
  v1::SetSourcePositionRequest set;
  v1::SetSourcePositionResponse was_set;
  std::optional<SourcePosition> position;  // to be kept

  Mutex mutex;
  CondVar done_cond;
  std::optional<grpc::Status> done ABSL_GUARDED_BY(mutex);
};

PositionKeeper::PositionKeeper(const std::shared_ptr<grpc::Channel>& sidecar, std::string address,
                               std::function<void()> on_change)
    : stub_(v1::MaintenanceService::NewStub(sidecar)),
      address_(std::move(address)),
      on_change_(std::move(on_change)) {}

PositionKeeper::~PositionKeeper() {
  if (call_ == nullptr) return;
  call_->context.TryCancel();
  const MutexLock lock(call_->mutex);
  while (!call_->done.has_value()) call_->done_cond.Wait(call_->mutex);
}

void PositionKeeper::Ask() {
  call_ = std::make_unique<Call>();
  call_->context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  stub_->async()->GetSourcePosition(&call_->context, &call_->get, &call_->got, Finish(*call_));
}

void PositionKeeper::Keep(const SourcePosition& position) {
  call_ = std::make_unique<Call>();
  call_->context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  call_->position = position;
  call_->set.set_position(FormatSourcePosition(position));
  stub_->async()->SetSourcePosition(&call_->context, &call_->set, &call_->was_set, Finish(*call_));
}

std::function<void(grpc::Status)> PositionKeeper::Finish(Call& call) {
  return [this, &call](grpc::Status status) {
    const MutexLock lock(call.mutex);
    call.done = std::move(status);
    on_change_();
    call.done_cond.NotifyAll();
  };
}

std::optional<absl::Status> PositionKeeper::Take() {
  if (call_ == nullptr) return std::nullopt;
  grpc::Status status;
  {
    const MutexLock lock(call_->mutex);
    if (!call_->done.has_value()) return std::nullopt;
    status = *call_->done;
  }
  const std::unique_ptr<Call> call = std::move(call_);
  if (!status.ok()) {
    return absl::Status(
        static_cast<absl::StatusCode>(status.error_code()),
        absl::StrCat("the sidecar at ", address_,
                     " does not keep the position of the WAL: ", status.error_message()));
  }
  kept_ = call->position.has_value() ? call->position : ParseSourcePosition(call->got.position());
  return absl::OkStatus();
}

}  // namespace ttl::postgres
