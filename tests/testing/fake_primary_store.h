#ifndef TTL_TESTS_TESTING_FAKE_PRIMARY_STORE_H_
#define TTL_TESTS_TESTING_FAKE_PRIMARY_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/support/status.h"
#include "service/base/mutex.h"
#include "service/core/item.h"
#include "tests/testing/temp_dir.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl {

// A primary store in memory that serves PrimaryStoreService on a Unix socket of its own. By default
// it does what the API requires of a store, by the clock given. It can be scripted to fail, hang,
// throttle and give wrong answers, and tests can intervene between the receipt of a call and its
// application.
//
// Hooks run on a thread of the server while the caller waits, and may call the fake. Thread-safe,
// but hooks and faults must be set while no call is in flight. Serves from construction to
// destruction.
class FakePrimaryStore {
 public:
  using Clock = std::function<absl::Time()>;
  using DeleteRequest = v1::DeleteItemsRequest;
  using DeleteResponse = v1::DeleteItemsResponse;

  // Without credentials: in plain text.
  explicit FakePrimaryStore(Clock clock,
                            std::shared_ptr<grpc::ServerCredentials> credentials = nullptr);
  ~FakePrimaryStore();

  FakePrimaryStore(const FakePrimaryStore&) = delete;
  FakePrimaryStore& operator=(const FakePrimaryStore&) = delete;

  // The gRPC address of the server.
  const std::string& address() const { return address_; }

  // Closes all connections, and serves again.
  void Restart();

  // --- What it holds ---

  // Writes an item; `_ts` is part of `version`.
  void Put(const std::string& container, const ItemKey& key, const ItemVersion& version);
  void Erase(const std::string& container, const ItemKey& key);
  std::optional<ItemVersion> Find(const std::string& container, const ItemKey& key) const;
  int64_t Count(const std::string& container) const;
  int64_t CountAll() const;

  // --- What it is ---

  void SetStoreId(std::string store_id);
  void SetMaxBatchItems(int32_t max_batch_items);
  void SetComparesEtags(bool compares);
  // A store that does not know expire_at is one from before it: it neither compares nor returns it.
  void SetKnowsExpireAt(bool knows);
  // Maximum items in a message of ScanItems.
  void SetScanMessageItems(int items);

  // --- How it misbehaves ---

  // Called after the receipt of each DeleteItems. If it returns a status, the call ends with that
  // and with the response as filled; otherwise the call proceeds.
  using BeforeDelete =
      std::function<std::optional<grpc::Status>(const DeleteRequest&, DeleteResponse&)>;
  void SetBeforeDelete(BeforeDelete before);

  // Called after the application of each DeleteItems; may change the response. The call returns its
  // status.
  using AfterDelete = std::function<grpc::Status(const DeleteRequest&, DeleteResponse&)>;
  void SetAfterDelete(AfterDelete after);

  // Called with each message of ScanItems before it is sent, after its items were read; may change
  // it. A status that is not OK ends the call.
  using BeforeScanMessage =
      std::function<grpc::Status(const v1::ScanItemsRequest&, v1::ScanItemsResponse&)>;
  void SetBeforeScanMessage(BeforeScanMessage before);

  // From now on GetStoreInfo returns `status`; OK ends this.
  void FailInfo(grpc::Status status);

  // Deletes of this item are answered FAILED.
  void Poison(const std::string& container, const ItemKey& key, std::string reason);

  // Blocks every DeleteItems, or only those of one container, before its application until
  // Release(), even if the caller has given up.
  void Hang(std::string container = "");
  void Release();
  // The number of blocked calls.
  int HangingCalls() const;

  // --- What it has seen ---

  struct Received {
    absl::Time at;  // by the store's clock
    DeleteRequest request;
    std::vector<std::string> trace_parents;  // values of the metadata key "traceparent"
  };
  std::vector<Received> ReceivedDeletes() const;
  int InfoCalls() const;
  std::vector<v1::ScanItemsRequest> ReceivedScans() const;
  // The deleted keys, in order.
  std::vector<std::pair<std::string, ItemKey>> Deleted() const;

 private:
  class Service;
  using FullKey = std::pair<std::string, ItemKey>;  // container and key

  void Listen();
  void Shutdown();
  grpc::Status HandleInfo(v1::GetStoreInfoResponse* response);
  grpc::Status HandleDelete(const DeleteRequest& request, std::vector<std::string> trace_parents,
                            DeleteResponse* response);
  grpc::Status HandleScan(const v1::ScanItemsRequest& request,
                          grpc::ServerWriter<v1::ScanItemsResponse>& writer);
  v1::ScanItemsResponse ReadScan(const v1::ScanItemsRequest& request, const std::string& page_token,
                                 int limit) const;
  grpc::Status CheckStoreId(const DeleteRequest& request) const;
  void WaitWhileHanging(const std::string& container);
  void Apply(const DeleteRequest& request, DeleteResponse* response);
  void FillItem(const ItemVersion& version, v1::Item* item) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  v1::DeleteResult ApplyOne(const std::string& container, const v1::ExpiredItem& item);

  const TempDir directory_;
  const std::string address_;
  const std::shared_ptr<grpc::ServerCredentials> credentials_;  // outlive the server
  const Clock clock_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::map<FullKey, ItemVersion> items_ ABSL_GUARDED_BY(mutex_);
  std::map<FullKey, std::string> poisoned_ ABSL_GUARDED_BY(mutex_);
  std::string store_id_ ABSL_GUARDED_BY(mutex_) = "fake-store";
  int32_t max_batch_items_ ABSL_GUARDED_BY(mutex_) = 0;
  bool compares_etags_ ABSL_GUARDED_BY(mutex_) = true;
  bool knows_expire_at_ ABSL_GUARDED_BY(mutex_) = true;
  BeforeDelete before_ ABSL_GUARDED_BY(mutex_);
  AfterDelete after_ ABSL_GUARDED_BY(mutex_);
  BeforeScanMessage before_scan_message_ ABSL_GUARDED_BY(mutex_);
  int scan_message_items_ ABSL_GUARDED_BY(mutex_) = 1000;
  std::vector<v1::ScanItemsRequest> scans_ ABSL_GUARDED_BY(mutex_);
  grpc::Status info_status_ ABSL_GUARDED_BY(mutex_);
  bool hanging_ ABSL_GUARDED_BY(mutex_) = false;
  std::string hanging_container_ ABSL_GUARDED_BY(mutex_);  // empty: all
  int hanging_calls_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Received> received_ ABSL_GUARDED_BY(mutex_);
  int info_calls_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<FullKey> deleted_ ABSL_GUARDED_BY(mutex_);

  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_FAKE_PRIMARY_STORE_H_
