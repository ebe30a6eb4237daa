#include "client/postgres/capture/tables/item_lister.h"

#include <chrono>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/client_context.h"
#include "service/base/mutex.h"

namespace ttl::postgres {
namespace {

constexpr std::chrono::seconds kDeadline(15);
constexpr int kPageSize = 1000;

}  // namespace

struct ItemLister::Call {
  grpc::ClientContext context;
  v1::ListItemsRequest request;
  v1::ListItemsResponse response;

  Mutex mutex;
  CondVar done_cond;
  std::optional<grpc::Status> done ABSL_GUARDED_BY(mutex);
};

ItemLister::ItemLister(v1::ItemService::Stub& stub, std::function<void()> on_change)
    : stub_(stub), on_change_(std::move(on_change)) {}

ItemLister::~ItemLister() { Drop(); }

void ItemLister::Ask(const std::string& container, const std::string& page_token) {
  call_ = std::make_unique<Call>();
  call_->context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  call_->request.set_container(container);
  call_->request.set_page_token(page_token);
  call_->request.set_page_size(kPageSize);
  call_->request.set_show_expired(true);
  stub_.async()->ListItems(&call_->context, &call_->request, &call_->response,
                           [this, call = call_.get()](grpc::Status status) {
                             const MutexLock lock(call->mutex);
                             call->done = std::move(status);
                             on_change_();
                             call->done_cond.NotifyAll();
                           });
}

std::optional<absl::StatusOr<v1::ListItemsResponse>> ItemLister::Take() {
  if (call_ == nullptr) return std::nullopt;
  grpc::Status status;
  {
    const MutexLock lock(call_->mutex);
    if (!call_->done.has_value()) return std::nullopt;
    status = *call_->done;
  }
  const std::unique_ptr<Call> call = std::move(call_);
  if (status.ok()) return std::move(call->response);
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      absl::StrCat("listing the items of container \"", call->request.container(),
                                   "\": ", status.error_message()));
}

void ItemLister::Drop() {
  if (call_ == nullptr) return;
  call_->context.TryCancel();
  {
    const MutexLock lock(call_->mutex);
    while (!call_->done.has_value()) call_->done_cond.Wait(call_->mutex);
  }
  call_.reset();
}

}  // namespace ttl::postgres
