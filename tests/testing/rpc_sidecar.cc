#include "tests/testing/rpc_sidecar.h"

#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <cstdlib>
#include <utility>

namespace ttl {
namespace {

// Whenever the last user of gRPC goes, the library shuts down, and now and then it
// waits ten seconds for one of its own pollers. One user that stays avoids that.
void KeepGrpc() {
  static const bool kept = [] {
    grpc_init();
    return true;
  }();
  static_cast<void>(kept);
}

}  // namespace

RpcSidecar::RpcSidecar(Options options) : options_(std::move(options)), storage_(options_.storage) {
  KeepGrpc();
  Start();
}

RpcSidecar::~RpcSidecar() { Stop(); }

void RpcSidecar::Restart(const std::function<void()>& meanwhile) {
  const ClockMemory memory = guarded_clock_->Memory();
  Stop();
  storage_.Close();
  if (meanwhile) meanwhile();
  storage_.Reopen();
  guarded_clock_ = std::make_unique<GuardedClock>(clock_, memory);
  Start();
}

void RpcSidecar::Start() {
  if (guarded_clock_ == nullptr) {
    guarded_clock_ = std::make_unique<GuardedClock>(clock_, std::nullopt);
  }
  levers_ = Levers::Load(*storage_, {.default_limit_per_second = options_.max_deletes_per_second,
                                     .on_change = [this] { ++changes_; }})
                .value();
  ExpiryServiceOptions expiry_options;
  expiry_options.container_max_deletes_per_second = options_.container_max_deletes_per_second;
  expiry_options.start_time = guarded_clock_->Read().now;
  expiry_options.start_steady = clock_.Read().boot.value_or(absl::ZeroDuration());
  expiry_options.on_clock_accepted = [this] { ++clocks_accepted_; };
  expiry_options.on_change = [this] { ++changes_; };
  container_service_ = std::make_unique<ContainerService>(
      storage_->containers(), storage_->holds(), storage_->feed(), storage_->tallies(),
      *guarded_clock_, usage_, options_.containers);
  item_calls_ = std::make_unique<ItemCalls>(
      storage_->containers(), storage_->items(), storage_->touches(), storage_->holds(),
      *guarded_clock_, levers_->store_trust(), counters_, options_.adoption_grace);
  item_service_ = std::make_unique<ItemService>(*item_calls_);
  storage_->feed().SetClock([this] {
    const ClockStatus clock = guarded_clock_->Status();
    const bool may_judge = !clock.suspect && !storage_->data_trust().in_doubt();
    return FeedMoment{.now = clock.time.now,
                      .judged_at = may_judge ? std::optional(clock.time.now) : std::nullopt};
  });
  feed_view_ = std::make_unique<FeedView>(
      FeedView::Parts{.feed = storage_->feed(), .progress = feed_progress_, .sent = sent_});
  feed_service_ =
      std::make_unique<FeedService>(FeedService::Parts{.containers = storage_->containers(),
                                                       .feed = storage_->feed(),
                                                       .clock = *guarded_clock_,
                                                       .progress = feed_progress_,
                                                       .sent = sent_,
                                                       .stall_limit = options_.stall_limit});
  expiry_service_ = std::make_unique<ExpiryService>(
      ExpiryService::Parts{*storage_, *guarded_clock_, clock_, published_, counters_, usage_,
                           *levers_, *feed_view_},
      std::move(expiry_options));
  hold_service_ =
      std::make_unique<HoldService>(storage_->containers(), storage_->holds(), *guarded_clock_);
  maintenance_service_ = std::make_unique<MaintenanceService>(
      MaintenanceService::Parts{.storage = *storage_,
                                .clock = *guarded_clock_,
                                .levers = *levers_,
                                .reconciliations = reconciliations_,
                                .has_store = options_.has_store,
                                .preview = nullptr,
                                .stall_limit = options_.stall_limit});

  health_service_ = std::make_unique<HealthService>();

  grpc::ServerBuilder builder;
  const std::initializer_list<RpcService*> services = {
      container_service_.get(),   item_service_.get(),   expiry_service_.get(), hold_service_.get(),
      maintenance_service_.get(), health_service_.get(), feed_service_.get()};
  for (RpcService* service : services) {
    served_.push_back(
        std::unique_ptr<Served>(new Served{*service, ByteService(service->descriptor()), nullptr}));
    builder.RegisterService(&served_.back()->endpoint);
  }
  builder.SetMaxReceiveMessageSize(64 << 20);
  builder.AddListeningPort(address(), grpc::InsecureServerCredentials());
  auto queue = builder.AddCompletionQueue();
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) std::abort();
  worker_ = std::make_unique<CallWorker>();
  const auto accept = [this](CallQueue& accepting) {
    for (const auto& served : served_) {
      served->methods =
          std::make_unique<MethodTable>(served->service, served->endpoint, accepting, *worker_);
    }
  };
  queue_ = std::make_unique<CallQueue>(std::move(queue), call_counters_, access_,
                                       CallQueue::WhenIdle::kWait, accept);

  // A channel of its own: one shared with the server before would wait before it
  // connects again.
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto channel =
      grpc::CreateCustomChannel(address(), grpc::InsecureChannelCredentials(), arguments);
  containers_ = v1::ContainerService::NewStub(channel);
  items_ = v1::ItemService::NewStub(channel);
  expiry_ = v1::ExpiryService::NewStub(channel);
  feed_ = v1::FeedService::NewStub(channel);
  holds_ = v1::HoldService::NewStub(channel);
  maintenance_ = v1::MaintenanceService::NewStub(channel);
}

void RpcSidecar::Stop() {
  storage_->feed().SetClock(nullptr);  // the storage outlives the clock
  EndStreams();
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(5));
  queue_.reset();
  worker_.reset();
  server_.reset();
  served_.clear();
  health_service_.reset();
  maintenance_service_.reset();  // ends what its thread has begun
  container_service_.reset();    // these two listen to the storage, which may be closed next
  feed_service_.reset();
}

void RpcSidecar::EndStreams() {
  for (const auto& served : served_) served->methods->EndStreams();
}

absl::StatusOr<v1::Container> RpcSidecar::Create(std::optional<int64_t> default_ttl) {
  v1::CreateContainerRequest request;
  request.mutable_container()->set_id("c");
  if (default_ttl.has_value()) request.mutable_container()->set_default_ttl(*default_ttl);
  const auto response = Call(containers(), &v1::ContainerService::Stub::CreateContainer, request);
  if (!response.ok()) return response.status();
  return response->container();
}

absl::StatusOr<v1::Container> RpcSidecar::SetDefaultTtl(std::optional<int64_t> default_ttl) {
  v1::UpdateContainerRequest request;
  request.mutable_container()->set_id("c");
  if (default_ttl.has_value()) request.mutable_container()->set_default_ttl(*default_ttl);
  request.mutable_update_mask()->add_paths("default_ttl");
  const auto response = Call(containers(), &v1::ContainerService::Stub::UpdateContainer, request);
  if (!response.ok()) return response.status();
  return response->container();
}

absl::StatusOr<v1::TrackResult> RpcSidecar::Track(const std::string& id, int64_t ts,
                                                  std::optional<int64_t> ttl) {
  v1::TrackItemsRequest request;
  request.set_container("c");
  v1::Item& item = *request.add_items();
  item.set_partition_key("p");
  item.set_id(id);
  item.set_ts(ts);
  if (ttl.has_value()) item.set_ttl(*ttl);
  const auto response = Call(items(), &v1::ItemService::Stub::TrackItems, request);
  if (!response.ok()) return response.status();
  return response->results(0);
}

v1::Visibility RpcSidecar::Check(const std::string& id) {
  v1::CheckVisibilityRequest request;
  request.set_container("c");
  v1::VisibilityCheck& check = *request.add_checks();
  check.set_partition_key("p");
  check.set_id(id);
  const auto response = Call(items(), &v1::ItemService::Stub::CheckVisibility, request);
  return response.ok() ? response->visibilities(0) : v1::VISIBILITY_UNSPECIFIED;
}

absl::StatusOr<v1::ItemView> RpcSidecar::Get(const std::string& id) {
  v1::GetItemRequest request;
  request.set_container("c");
  request.set_partition_key("p");
  request.set_id(id);
  const auto response = Call(items(), &v1::ItemService::Stub::GetItem, request);
  if (!response.ok()) return response.status();
  return response->item();
}

std::vector<std::string> RpcSidecar::List(bool show_expired) {
  std::vector<std::string> ids;
  v1::ListItemsRequest request;
  request.set_container("c");
  request.set_show_expired(show_expired);
  do {
    const auto response = Call(items(), &v1::ItemService::Stub::ListItems, request);
    if (!response.ok()) return {response.status().ToString()};
    for (const v1::ItemView& view : response->items()) ids.push_back(view.item().id());
    request.set_page_token(response->next_page_token());
  } while (!request.page_token().empty());
  return ids;
}

}  // namespace ttl
