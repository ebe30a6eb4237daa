#ifndef TTL_TESTS_TESTING_RPC_SIDECAR_H_
#define TTL_TESTS_TESTING_RPC_SIDECAR_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/server.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/wake_signal.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/feed_progress.h"
#include "service/core/state/published_reconciliation.h"
#include "service/core/state/published_sweep.h"
#include "service/core/state/usage_meter.h"
#include "service/rpc/checks/check_counters.h"
#include "service/rpc/services/container_service.h"
#include "service/rpc/services/expiry_service.h"
#include "service/rpc/services/feed_service.h"
#include "service/rpc/services/hold_service.h"
#include "service/rpc/services/item_calls.h"
#include "service/rpc/services/item_service.h"
#include "service/rpc/services/maintenance_service.h"
#include "service/rpc/services/method_roles.h"
#include "service/rpc/status/feed_view.h"
#include "service/rpc/status/sent_marks.h"
#include "service/storage/levers.h"
#include "service/transport/access/server_access.h"
#include "service/transport/calls/byte_service.h"
#include "service/transport/calls/call_counters.h"
#include "service/transport/calls/call_queue.h"
#include "service/transport/calls/call_worker.h"
#include "service/transport/calls/method_table.h"
#include "service/transport/calls/rpc_service.h"
#include "service/transport/health_service.h"
#include "tests/testing/fake_clock.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/temp_dir.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/feed_service.grpc.pb.h"
#include "ttl/v1/hold_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"
#include "ttl/v1/maintenance_service.grpc.pb.h"

namespace ttl {

// The six services, and that of gRPC's health protocol, on a real gRPC server over a Unix socket,
// with storage in memory and a clock that the test moves. Nothing sweeps, so expired items stay
// tracked. The destructor checks the invariants of storage.
class RpcSidecar {
 public:
  struct Options {
    StorageOptions storage;
    ContainerServiceOptions containers;
    absl::Duration adoption_grace;
    std::optional<double> max_deletes_per_second;
    std::optional<double> container_max_deletes_per_second;
    bool has_store = false;                          // nothing calls it
    Roles roles = Roles::All();                      // of all who call
    absl::Duration stall_limit = absl::Seconds(30);  // of streams of maintenance and events
  };

  explicit RpcSidecar(Options options);
  RpcSidecar() : RpcSidecar(Options()) {}
  ~RpcSidecar();

  // Restarts everything on the same files; the clock is kept. `meanwhile` runs while no file is
  // open.
  void Restart(const std::function<void()>& meanwhile = {});

  // The gRPC address of the server.
  std::string address() const { return absl::StrCat("unix:", directory_.File("ttl.sock")); }

  v1::ContainerService::Stub& containers() { return *containers_; }
  v1::ItemService::Stub& items() { return *items_; }
  v1::ExpiryService::Stub& expiry() { return *expiry_; }
  v1::FeedService::Stub& feed() { return *feed_; }
  v1::HoldService::Stub& holds() { return *holds_; }
  v1::MaintenanceService::Stub& maintenance() { return *maintenance_; }

  // Ends streams, as a server does before it stops.
  void EndStreams();

  FakeClock& clock() { return clock_; }
  GuardedClock& guarded_clock() { return *guarded_clock_; }
  PublishedSweep& published() { return published_; }
  UsageMeter& usage() { return usage_; }
  // Of an announcer that does not run: the test says what it would have done.
  FeedProgress& feed_progress() { return feed_progress_; }
  PublishedReconciliation& reconciliations() { return reconciliations_; }
  const CheckCounters& check_counters() const { return counters_; }
  const AccessCounters& access_counters() const { return access_counters_; }
  const CallCounters& call_counters() const { return call_counters_; }
  Levers& levers() { return *levers_; }
  StorageForTest& storage() { return storage_; }
  int clocks_accepted() const { return clocks_accepted_; }
  // How often a change by an operator would have woken the sweeper.
  int changes() const { return changes_; }

  // The fake clock in Unix seconds.
  int64_t Now() const { return absl::ToUnixSeconds(*clock_.Read().wall); }

  // The most common calls, in the container "c" and the partition "p".
  absl::StatusOr<v1::Container> Create(std::optional<int64_t> default_ttl);
  absl::StatusOr<v1::Container> SetDefaultTtl(std::optional<int64_t> default_ttl);
  absl::StatusOr<v1::TrackResult> Track(const std::string& id, int64_t ts,
                                        std::optional<int64_t> ttl = std::nullopt);
  v1::Visibility Check(const std::string& id);
  absl::StatusOr<v1::ItemView> Get(const std::string& id);
  // The ids of all live items.
  std::vector<std::string> List(bool show_expired = false);

 private:
  // A service, and what the server and its queue have of it.
  struct Served {
    RpcService& service;
    ByteService endpoint;
    std::unique_ptr<MethodTable> methods;
  };

  void Start();
  void Stop();

  const Options options_;
  const TempDir directory_;
  FakeClock clock_;
  StorageForTest storage_;
  PublishedSweep published_;
  UsageMeter usage_;
  FeedProgress feed_progress_;
  SentMarks sent_;
  WakeSignal reconciliation_asked_;
  PublishedReconciliation reconciliations_{reconciliation_asked_};
  CheckCounters counters_;
  CallCounters call_counters_;
  const IdentityRoles identities_;
  AccessCounters access_counters_;
  const ServerAccess access_{
      {.address = "test", .roles = options_.roles, .roles_of_method = RolesOfMethod},
      identities_,
      access_counters_};
  std::atomic<int> clocks_accepted_ = 0;
  std::atomic<int> changes_ = 0;
  std::unique_ptr<Levers> levers_;
  std::unique_ptr<GuardedClock> guarded_clock_;
  std::unique_ptr<ContainerService> container_service_;
  std::unique_ptr<ItemCalls> item_calls_;
  std::unique_ptr<ItemService> item_service_;
  std::unique_ptr<FeedView> feed_view_;
  std::unique_ptr<FeedService> feed_service_;
  std::unique_ptr<ExpiryService> expiry_service_;
  std::unique_ptr<HoldService> hold_service_;
  std::unique_ptr<MaintenanceService> maintenance_service_;
  std::unique_ptr<HealthService> health_service_;
  std::vector<std::unique_ptr<Served>> served_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<CallWorker> worker_;
  std::unique_ptr<CallQueue> queue_;
  std::unique_ptr<v1::ContainerService::Stub> containers_;
  std::unique_ptr<v1::ItemService::Stub> items_;
  std::unique_ptr<v1::ExpiryService::Stub> expiry_;
  std::unique_ptr<v1::FeedService::Stub> feed_;
  std::unique_ptr<v1::HoldService::Stub> holds_;
  std::unique_ptr<v1::MaintenanceService::Stub> maintenance_;
};

// A call of `stub` with a deadline, as ours: Call(sidecar.items(),
// &v1::ItemService::Stub::GetItem, request). `context`, if given, keeps what
// came besides the response.
template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Call(
    Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
    const std::decay_t<Request>& request, grpc::ClientContext* context = nullptr) {
  grpc::ClientContext own_context;
  grpc::ClientContext& used = context == nullptr ? own_context : *context;
  used.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(20)));
  Response response;
  const grpc::Status status = (stub.*method)(&used, request, &response);
  if (status.ok()) return response;
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_RPC_SIDECAR_H_
