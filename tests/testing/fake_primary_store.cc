#include "tests/testing/fake_primary_store.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpc/grpc.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/sync_stream.h"

namespace ttl {
namespace {

google::protobuf::Timestamp ToTimestamp(absl::Time time) {
  google::protobuf::Timestamp timestamp;
  timestamp.set_seconds(absl::ToUnixSeconds(time));
  timestamp.set_nanos(static_cast<int32_t>(
      absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(timestamp.seconds()))));
  return timestamp;
}

absl::Time ToTime(const google::protobuf::Timestamp& timestamp) {
  return absl::FromUnixSeconds(timestamp.seconds()) + absl::Nanoseconds(timestamp.nanos());
}

}  // namespace

class FakePrimaryStore::Service : public v1::PrimaryStoreService::Service {
 public:
  explicit Service(FakePrimaryStore& store) : store_(store) {}

  grpc::Status GetStoreInfo(grpc::ServerContext*, const v1::GetStoreInfoRequest*,
                            v1::GetStoreInfoResponse* response) override {
    return store_.HandleInfo(response);
  }
  grpc::Status DeleteItems(grpc::ServerContext* context, const DeleteRequest* request,
                           DeleteResponse* response) override {
    std::vector<std::string> trace_parents;
    const auto [first, end] = context->client_metadata().equal_range("traceparent");
    for (auto entry = first; entry != end; ++entry) {
      trace_parents.emplace_back(entry->second.data(), entry->second.size());
    }
    return store_.HandleDelete(*request, std::move(trace_parents), response);
  }
  grpc::Status ScanItems(grpc::ServerContext*, const v1::ScanItemsRequest* request,
                         grpc::ServerWriter<v1::ScanItemsResponse>* writer) override {
    return store_.HandleScan(*request, *writer);
  }

 private:
  FakePrimaryStore& store_;
};

namespace {

// gRPC 1.51 now and then waits ten seconds when the last of its objects goes. With this
// there is no last one.
void KeepGrpc() {
  static const bool kept = [] {
    grpc_init();
    return true;
  }();
  static_cast<void>(kept);
}

}  // namespace

FakePrimaryStore::FakePrimaryStore(Clock clock,
                                   std::shared_ptr<grpc::ServerCredentials> credentials)
    : address_(absl::StrCat("unix:", directory_.File("store.sock"))),
      credentials_(credentials != nullptr ? std::move(credentials)
                                          : grpc::InsecureServerCredentials()),
      clock_(std::move(clock)),
      service_(std::make_unique<Service>(*this)) {
  KeepGrpc();
  Listen();
}

void FakePrimaryStore::Restart() {
  Shutdown();
  Listen();
}

void FakePrimaryStore::Listen() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, credentials_);
  builder.RegisterService(service_.get());
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    std::cerr << "cannot listen on " << address_ << std::endl;
    std::abort();
  }
}

FakePrimaryStore::~FakePrimaryStore() { Shutdown(); }

void FakePrimaryStore::Shutdown() {
  Release();
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

void FakePrimaryStore::Put(const std::string& container, const ItemKey& key,
                           const ItemVersion& version) {
  MutexLock lock(mutex_);
  items_[{container, key}] = version;
}

void FakePrimaryStore::Erase(const std::string& container, const ItemKey& key) {
  MutexLock lock(mutex_);
  items_.erase({container, key});
}

std::optional<ItemVersion> FakePrimaryStore::Find(const std::string& container,
                                                  const ItemKey& key) const {
  MutexLock lock(mutex_);
  const auto it = items_.find({container, key});
  if (it == items_.end()) return std::nullopt;
  return it->second;
}

int64_t FakePrimaryStore::Count(const std::string& container) const {
  MutexLock lock(mutex_);
  int64_t count = 0;
  for (const auto& [key, version] : items_) count += key.first == container ? 1 : 0;
  return count;
}

int64_t FakePrimaryStore::CountAll() const {
  MutexLock lock(mutex_);
  return static_cast<int64_t>(items_.size());
}

void FakePrimaryStore::SetStoreId(std::string store_id) {
  MutexLock lock(mutex_);
  store_id_ = std::move(store_id);
}

void FakePrimaryStore::SetMaxBatchItems(int32_t max_batch_items) {
  MutexLock lock(mutex_);
  max_batch_items_ = max_batch_items;
}

void FakePrimaryStore::SetComparesEtags(bool compares) {
  MutexLock lock(mutex_);
  compares_etags_ = compares;
}

void FakePrimaryStore::SetKnowsExpireAt(bool knows) {
  MutexLock lock(mutex_);
  knows_expire_at_ = knows;
}

void FakePrimaryStore::SetBeforeDelete(BeforeDelete before) {
  MutexLock lock(mutex_);
  before_ = std::move(before);
}

void FakePrimaryStore::SetAfterDelete(AfterDelete after) {
  MutexLock lock(mutex_);
  after_ = std::move(after);
}

void FakePrimaryStore::FailInfo(grpc::Status status) {
  MutexLock lock(mutex_);
  info_status_ = std::move(status);
}

void FakePrimaryStore::Poison(const std::string& container, const ItemKey& key,
                              std::string reason) {
  MutexLock lock(mutex_);
  poisoned_[{container, key}] = std::move(reason);
}

void FakePrimaryStore::Hang(std::string container) {
  MutexLock lock(mutex_);
  hanging_ = true;
  hanging_container_ = std::move(container);
}

void FakePrimaryStore::Release() {
  MutexLock lock(mutex_);
  hanging_ = false;
  changed_.NotifyAll();
}

int FakePrimaryStore::HangingCalls() const {
  MutexLock lock(mutex_);
  return hanging_calls_;
}

std::vector<FakePrimaryStore::Received> FakePrimaryStore::ReceivedDeletes() const {
  MutexLock lock(mutex_);
  return received_;
}

int FakePrimaryStore::InfoCalls() const {
  MutexLock lock(mutex_);
  return info_calls_;
}

std::vector<std::pair<std::string, ItemKey>> FakePrimaryStore::Deleted() const {
  MutexLock lock(mutex_);
  return deleted_;
}

grpc::Status FakePrimaryStore::HandleInfo(v1::GetStoreInfoResponse* response) {
  const absl::Time now = clock_();
  MutexLock lock(mutex_);
  ++info_calls_;
  response->set_store_id(store_id_);
  *response->mutable_now() = ToTimestamp(now);
  response->set_max_batch_items(max_batch_items_);
  if (compares_etags_) response->add_capabilities(v1::STORE_CAPABILITY_ETAG);
  if (knows_expire_at_) response->add_capabilities(v1::STORE_CAPABILITY_EXPIRE_AT);
  return info_status_;
}

grpc::Status FakePrimaryStore::HandleDelete(const DeleteRequest& request,
                                            std::vector<std::string> trace_parents,
                                            DeleteResponse* response) {
  const absl::Time received_at = clock_();
  BeforeDelete before;
  AfterDelete after;
  {
    MutexLock lock(mutex_);
    received_.push_back({received_at, request, std::move(trace_parents)});
    before = before_;
    after = after_;
  }
  WaitWhileHanging(request.container());
  if (before) {
    if (const auto status = before(request, *response)) return *status;
  }
  if (const grpc::Status ours = CheckStoreId(request); !ours.ok()) return ours;
  Apply(request, response);
  *response->mutable_store_now() = ToTimestamp(clock_());
  return after ? after(request, *response) : grpc::Status::OK;
}

void FakePrimaryStore::SetScanMessageItems(int items) {
  MutexLock lock(mutex_);
  scan_message_items_ = items;
}

void FakePrimaryStore::SetBeforeScanMessage(BeforeScanMessage before) {
  MutexLock lock(mutex_);
  before_scan_message_ = std::move(before);
}

std::vector<v1::ScanItemsRequest> FakePrimaryStore::ReceivedScans() const {
  MutexLock lock(mutex_);
  return scans_;
}

// A token is the key that a message ended with, as partition key, zero byte, id.
v1::ScanItemsResponse FakePrimaryStore::ReadScan(const v1::ScanItemsRequest& request,
                                                 const std::string& page_token, int limit) const {
  ItemKey after;
  const size_t middle = page_token.find('\0');
  if (middle != std::string::npos) {
    after = {page_token.substr(0, middle), page_token.substr(middle + 1)};
  }
  MutexLock lock(mutex_);
  const FullKey from{request.container(), after};
  v1::ScanItemsResponse response;
  auto it = page_token.empty() ? items_.lower_bound(from) : items_.upper_bound(from);
  const auto end = items_.end();
  const auto is_there = [&] { return it != end && it->first.first == from.first; };
  for (; is_there() && response.items_size() < std::min(limit, scan_message_items_); ++it) {
    const ItemKey& key = it->first.second;
    v1::Item* item = response.add_items();
    FillItem(it->second, item);
    item->set_partition_key(key.partition_key);
    item->set_id(key.id);
    response.set_next_page_token(key.partition_key + '\0' + key.id);
  }
  if (!is_there()) response.clear_next_page_token();
  return response;
}

grpc::Status FakePrimaryStore::HandleScan(const v1::ScanItemsRequest& request,
                                          grpc::ServerWriter<v1::ScanItemsResponse>& writer) {
  BeforeScanMessage before;
  {
    MutexLock lock(mutex_);
    scans_.push_back(request);
    before = before_scan_message_;
  }
  std::string page_token = request.page_token();
  int left = request.max_items();
  do {
    v1::ScanItemsResponse response = ReadScan(request, page_token, left);
    page_token = response.next_page_token();
    left -= response.items_size();
    if (before) {
      const grpc::Status status = before(request, response);
      if (!status.ok()) return status;
    }
    if (!writer.Write(response)) return grpc::Status::CANCELLED;
  } while (!page_token.empty() && left > 0);
  return grpc::Status::OK;
}

grpc::Status FakePrimaryStore::CheckStoreId(const DeleteRequest& request) const {
  MutexLock lock(mutex_);
  if (request.store_id().empty() || request.store_id() == store_id_) return grpc::Status::OK;
  return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION,
                      absl::StrCat("store_id is ", request.store_id(), ": this is ", store_id_));
}

void FakePrimaryStore::WaitWhileHanging(const std::string& container) {
  MutexLock lock(mutex_);
  if (!hanging_container_.empty() && hanging_container_ != container) return;
  ++hanging_calls_;
  while (hanging_) changed_.Wait(mutex_);
  --hanging_calls_;
}

// One item at a time, as stores do it: writers come in between.
void FakePrimaryStore::Apply(const DeleteRequest& request, DeleteResponse* response) {
  for (const v1::ExpiredItem& item : request.items()) {
    if (clock_() > ToTime(request.not_after())) {
      response->add_results()->set_outcome(v1::DELETE_OUTCOME_THROTTLED);
    } else {
      *response->add_results() = ApplyOne(request.container(), item);
    }
  }
}

void FakePrimaryStore::FillItem(const ItemVersion& version, v1::Item* item) const {
  item->set_ts(version.times.ts);
  if (version.times.ttl.has_value()) item->set_ttl(*version.times.ttl);
  if (knows_expire_at_ && version.times.expire_at.has_value()) {
    item->set_expire_at(*version.times.expire_at);
  }
  item->set_etag(version.etag);
  if (version.sequence.has_value()) item->set_sequence(*version.sequence);
  item->set_size_bytes(version.size_bytes);
}

v1::DeleteResult FakePrimaryStore::ApplyOne(const std::string& container,
                                            const v1::ExpiredItem& item) {
  const FullKey key = {container, {item.partition_key(), item.id()}};
  const absl::Time now = clock_();
  v1::DeleteResult result;
  MutexLock lock(mutex_);
  if (const auto poison = poisoned_.find(key); poison != poisoned_.end()) {
    result.set_outcome(v1::DELETE_OUTCOME_FAILED);
    result.set_reason(poison->second);
    return result;
  }
  const auto it = items_.find(key);
  if (it == items_.end()) {
    result.set_outcome(v1::DELETE_OUTCOME_NOT_FOUND);
    return result;
  }
  const ItemVersion& current = it->second;
  const bool same_ttl =
      item.has_ttl() ? current.times.ttl == item.ttl() : !current.times.ttl.has_value();
  const std::optional<int64_t> sent_expire_at =
      item.has_expire_at() ? std::optional(item.expire_at()) : std::nullopt;
  const bool same_expire_at = !knows_expire_at_ || current.times.expire_at == sent_expire_at;
  const bool same_etag = item.etag().empty() || item.etag() == current.etag;
  if (current.times.ts != item.ts() || !same_ttl || !same_expire_at || !same_etag) {
    result.set_outcome(v1::DELETE_OUTCOME_MODIFIED);
    FillItem(current, result.mutable_current());
  } else if (absl::ToUnixSeconds(now) < item.expire_time()) {
    result.set_outcome(v1::DELETE_OUTCOME_NOT_EXPIRED);
  } else {
    result.set_outcome(v1::DELETE_OUTCOME_DELETED);
    items_.erase(it);
    deleted_.push_back(key);
  }
  return result;
}

}  // namespace ttl
