#ifndef TTL_TESTS_TESTING_FAKE_ITEM_SERVICE_H_
#define TTL_TESTS_TESTING_FAKE_ITEM_SERVICE_H_

#include <grpcpp/channel.h>
#include <grpcpp/server.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "ttl/v1/item_service.grpc.pb.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl {

// A small model of the sidecar's data path for tests of primary stores: tracks, untracks and judges
// by the rules, in memory and by the clock of the test, served in process. Failures and
// interruptions are scripted. Thread-safe.
class FakeItemService : public v1::ItemService::Service {
 public:
  enum class Method { kTrack, kUntrack, kTouch, kCheck };

  explicit FakeItemService(std::function<absl::Time()> clock);
  ~FakeItemService() override;

  // A channel to this service.
  std::shared_ptr<grpc::Channel> channel() const;

  // Creates a container, or sets its default_ttl.
  void SetContainer(const std::string& id, std::optional<int64_t> default_ttl);
  void RemoveContainer(const std::string& id);

  // From now on items of the container may be touched.
  void AllowTouch(const std::string& id);

  // Until the next SetStatus(), every call returns `status` and has no effect. OK ends this.
  void SetStatus(grpc::Status status);

  // The next call of `method` is applied, but returns `status`.
  void LoseNextAnswer(Method method, grpc::Status status);

  // The next call of `method` runs `hook` before it does anything else.
  void BeforeNext(Method method, std::function<void()> hook);

  // The tracked state of an item, expired or not.
  std::optional<v1::Item> Find(const std::string& container, const std::string& partition_key,
                               const std::string& id) const;

  // The items that a sweep would delete now, in the order of their keys.
  std::vector<v1::ExpiredItem> Expired(const std::string& container) const;

  // The sequences of applied reports, in order.
  std::vector<uint64_t> reported() const;

  // The number of calls so far, including failed ones.
  int calls(Method method) const;

  grpc::Status TrackItems(grpc::ServerContext* context, const v1::TrackItemsRequest* request,
                          v1::TrackItemsResponse* response) override;
  grpc::Status UntrackItems(grpc::ServerContext* context, const v1::UntrackItemsRequest* request,
                            v1::UntrackItemsResponse* response) override;
  grpc::Status TouchItems(grpc::ServerContext* context, const v1::TouchItemsRequest* request,
                          v1::TouchItemsResponse* response) override;
  grpc::Status CheckVisibility(grpc::ServerContext* context,
                               const v1::CheckVisibilityRequest* request,
                               v1::CheckVisibilityResponse* response) override;

 private:
  // Container, partition key, id.
  using Key = std::tuple<std::string, std::string, std::string>;

  // Runs the hook, counts the call, and returns the scripted failure, if any.
  grpc::Status Enter(Method method, const std::string& container);
  grpc::Status Leave(Method method);
  // When `item`, the tracked or a carried version, expires, counted from its touch, too.
  std::optional<int64_t> ExpireTime(const Key& key, const v1::Item& item) const;
  bool IsExpired(const Key& key, const v1::Item& item) const;
  v1::TouchResult Touch(const Key& key, int64_t unless_touched_within);

  const std::function<absl::Time()> clock_;
  mutable std::mutex mutex_;
  std::map<std::string, std::optional<int64_t>> containers_;
  std::set<std::string> touchable_;  // containers
  std::map<Key, v1::Item> items_;
  std::map<Key, int64_t> touches_;  // Unix seconds
  std::vector<uint64_t> reported_;
  grpc::Status status_;
  std::map<Method, grpc::Status> lost_answers_;
  std::map<Method, std::function<void()>> hooks_;
  std::map<Method, int> calls_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_FAKE_ITEM_SERVICE_H_
