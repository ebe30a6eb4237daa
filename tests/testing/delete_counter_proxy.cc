#include "tests/testing/delete_counter_proxy.h"

#include <grpcpp/client_context.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "service/base/mutex.h"

namespace ttl {

class DeleteCounterProxy::Service final : public v1::PrimaryStoreService::Service {
 public:
  explicit Service(const std::shared_ptr<grpc::Channel>& store)
      : stub_(v1::PrimaryStoreService::NewStub(store)) {}

  grpc::Status GetStoreInfo(grpc::ServerContext* context, const v1::GetStoreInfoRequest* request,
                            v1::GetStoreInfoResponse* response) override {
    const auto forwarded = grpc::ClientContext::FromServerContext(*context);
    return stub_->GetStoreInfo(forwarded.get(), *request, response);
  }

  grpc::Status DeleteItems(grpc::ServerContext* context, const v1::DeleteItemsRequest* request,
                           v1::DeleteItemsResponse* response) override {
    NoteArrival(*request);
    const auto forwarded = grpc::ClientContext::FromServerContext(*context);
    const grpc::Status status = stub_->DeleteItems(forwarded.get(), *request, response);
    NoteAnswer(*request, *response);
    return status;
  }

  std::vector<DeleteBatch> batches() const {
    MutexLock lock(mutex_);
    return batches_;
  }

  std::vector<DeleteBatch> batches_as_sent(absl::Duration delete_deadline) const {
    MutexLock lock(mutex_);
    std::vector<DeleteBatch> ordered = batches_;
    for (size_t i = 0; i < ordered.size(); ++i) {
      const absl::Duration on_its_way = delete_deadline - time_left_[i];
      ordered[i].at -= std::max(on_its_way, absl::ZeroDuration());
    }
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const DeleteBatch& a, const DeleteBatch& b) { return a.at < b.at; });
    return ordered;
  }

  std::map<v1::DeleteOutcome, int64_t> outcomes() const {
    MutexLock lock(mutex_);
    return outcomes_;
  }

  absl::Duration Lateness(double fraction) const {
    MutexLock lock(mutex_);
    if (lateness_seconds_.empty()) return absl::ZeroDuration();
    std::vector<float> sorted = lateness_seconds_;
    const auto last = static_cast<double>(sorted.size() - 1);
    const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(fraction * last);
    std::nth_element(sorted.begin(), nth, sorted.end());
    return absl::Seconds(*nth);
  }

 private:
  void NoteArrival(const v1::DeleteItemsRequest& request) {
    const absl::Time not_after = absl::FromUnixSeconds(request.not_after().seconds()) +
                                 absl::Nanoseconds(request.not_after().nanos());
    MutexLock lock(mutex_);
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const absl::Time time_of_day = absl::FromChrono(std::chrono::system_clock::now());
    batches_.push_back({absl::FromChrono(now), request.items_size()});
    time_left_.push_back(not_after - time_of_day);
  }

  void NoteAnswer(const v1::DeleteItemsRequest& request, const v1::DeleteItemsResponse& response) {
    const absl::Time now = absl::FromChrono(std::chrono::system_clock::now());
    MutexLock lock(mutex_);
    for (int i = 0; i < request.items_size(); ++i) {
      const v1::DeleteOutcome outcome = i < response.results_size()
                                            ? response.results(i).outcome()
                                            : v1::DELETE_OUTCOME_UNSPECIFIED;
      ++outcomes_[outcome];
      if (outcome != v1::DELETE_OUTCOME_DELETED) continue;
      const absl::Time expire_time = absl::FromUnixSeconds(request.items(i).expire_time());
      lateness_seconds_.push_back(static_cast<float>(absl::ToDoubleSeconds(now - expire_time)));
    }
  }

  const std::unique_ptr<v1::PrimaryStoreService::Stub> stub_;
  mutable Mutex mutex_;
  std::vector<DeleteBatch> batches_ ABSL_GUARDED_BY(mutex_);
  // Of each batch, from its arrival to its not_after.
  std::vector<absl::Duration> time_left_ ABSL_GUARDED_BY(mutex_);
  std::map<v1::DeleteOutcome, int64_t> outcomes_ ABSL_GUARDED_BY(mutex_);
  std::vector<float> lateness_seconds_ ABSL_GUARDED_BY(mutex_);
};

DeleteCounterProxy::DeleteCounterProxy(const std::string& address,
                                       const std::shared_ptr<grpc::Channel>& store)
    : service_(std::make_unique<Service>(store)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(service_.get());
  server_ = builder.BuildAndStart();
  if (server_ != nullptr) return;
  std::fprintf(stderr, "cannot listen on %s\n", address.c_str());
  std::abort();
}

DeleteCounterProxy::~DeleteCounterProxy() {
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
}

std::vector<DeleteBatch> DeleteCounterProxy::batches() const { return service_->batches(); }

std::vector<DeleteBatch> DeleteCounterProxy::batches_as_sent(absl::Duration delete_deadline) const {
  return service_->batches_as_sent(delete_deadline);
}

std::map<v1::DeleteOutcome, int64_t> DeleteCounterProxy::outcomes() const {
  return service_->outcomes();
}

absl::Duration DeleteCounterProxy::Lateness(double fraction) const {
  return service_->Lateness(fraction);
}

}  // namespace ttl
