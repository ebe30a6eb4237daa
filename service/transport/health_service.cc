#include "service/transport/health_service.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/transport/calls/async_write_stream.h"
#include "service/transport/calls/message_exchange.h"
#include "service/transport/calls/method_table.h"
#include "service/transport/calls/queued_method.h"

namespace ttl {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

constexpr char kWatch[] = "Watch";

}  // namespace

// One open Watch stream.
class HealthService::Watch final : public AsyncWriteStream {
 public:
  Watch(HealthService& owner, WatchMethod& method) : owner_(owner), method_(method) {}

 private:
  void OnOpen(grpc::ByteBuffer& bytes) override;
  void OnEnded() override { owner_.Remove(*this); }

  bool MakeNext(grpc::ByteBuffer& message) override {
    const Status status = owner_.StatusOf(service_);
    if (told_ == status) return false;
    told_ = status;
    HealthCheckResponse response;
    response.set_status(status);
    message = SerializeMessage(response);
    return true;
  }

  HealthService& owner_;
  WatchMethod& method_;
  std::string service_;         // constant once it is open
  std::optional<Status> told_;  // for MakeNext() alone
};

// Accepts Watch calls on one queue, one at a time.
class HealthService::WatchMethod final : public QueuedMethod {
 public:
  WatchMethod(HealthService& owner, MethodTable& table)
      : owner_(owner),
        endpoint_(table.endpoint()),
        queue_(table.queue()),
        method_(table.Find(kWatch)),
        counter_(queue_.counters().AddStream(NameOf(method_))) {
    Accept();
  }

  void Accept() {
    std::make_shared<Watch>(owner_, *this)->Accept(queue_, counter_, endpoint_, method_);
  }

  void EndStreams(const absl::Status& status) override { owner_.EndWatches(status); }

 private:
  HealthService& owner_;
  ByteService& endpoint_;
  CallQueue& queue_;
  const google::protobuf::MethodDescriptor& method_;
  MethodCounter& counter_;
};

void HealthService::Watch::OnOpen(grpc::ByteBuffer& bytes) {
  method_.Accept();
  HealthCheckRequest request;
  if (!ParseMessage(bytes, request)) return End(UnparsableRequest());
  service_ = request.service();
  const absl::Status added = owner_.Add(std::static_pointer_cast<Watch>(shared_from_this()));
  added.ok() ? SendNext() : End(added);
}

HealthService::HealthService() = default;
HealthService::~HealthService() = default;

const google::protobuf::ServiceDescriptor& HealthService::descriptor() const {
  return *HealthCheckRequest::descriptor()->file()->service(0);
}

void HealthService::AddMethods(MethodTable& table) {
  table.AddQuick("Check", *this, &HealthService::HandleCheck);
  table.Add(kWatch, std::make_unique<WatchMethod>(*this, table));
}

void HealthService::SetServingStatus(const std::string& service, bool serving) {
  {
    const MutexLock lock(mutex_);
    serving_[service] = serving;
  }
  for (const auto& watch : OpenWatches()) watch->SendNext();
}

void HealthService::SetServingStatus(bool serving) {
  {
    const MutexLock lock(mutex_);
    for (auto& [service, value] : serving_) value = serving;
  }
  for (const auto& watch : OpenWatches()) watch->SendNext();
}

absl::Status HealthService::HandleCheck(const HealthCheckRequest& request,
                                        HealthCheckResponse& response) const {
  const Status status = StatusOf(request.service());
  if (status == HealthCheckResponse::SERVICE_UNKNOWN) {
    return MakeError(Reason::kServiceNotFound,
                     absl::StrCat("service is ", Quoted(request.service()), ": unknown name"),
                     {{"service", request.service()}});
  }
  response.set_status(status);
  return absl::OkStatus();
}

HealthService::Status HealthService::StatusOf(const std::string& service) const {
  const MutexLock lock(mutex_);
  const auto it = serving_.find(service);
  if (it == serving_.end()) return HealthCheckResponse::SERVICE_UNKNOWN;
  return it->second ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

absl::Status HealthService::Add(const std::shared_ptr<Watch>& watch) {
  const MutexLock lock(mutex_);
  if (!end_status_.ok()) return end_status_;
  if (watches_.size() >= kMaxWatches) {
    return MakeError(Reason::kTooManyStreams,
                     absl::StrCat("there are ", watches_.size(), " watches, which is the maximum"),
                     {{"limit", absl::StrCat(kMaxWatches)}});
  }
  watches_.push_back(watch);
  return absl::OkStatus();
}

void HealthService::Remove(const Watch& watch) {
  const MutexLock lock(mutex_);
  std::erase_if(watches_, [&watch](const auto& open) { return open.get() == &watch; });
}

HealthService::Watches HealthService::OpenWatches() const {
  const MutexLock lock(mutex_);
  return watches_;
}

void HealthService::EndWatches(const absl::Status& status) {
  {
    const MutexLock lock(mutex_);
    end_status_ = status;
  }
  for (const auto& watch : OpenWatches()) watch->End(status);
}

}  // namespace ttl
