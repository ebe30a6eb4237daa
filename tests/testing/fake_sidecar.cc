#include "tests/testing/fake_sidecar.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "grpcpp/server_context.h"
#include "ttl/v1/container_service.grpc.pb.h"
#include "ttl/v1/expiry_service.grpc.pb.h"
#include "ttl/v1/feed_service.grpc.pb.h"
#include "ttl/v1/hold_service.grpc.pb.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {
namespace {

void FillDefault(const v1::TrackItemsRequest& request, v1::TrackItemsResponse* response) {
  for (int i = 0; i < request.items_size(); ++i) {
    response->add_results(v1::TRACK_RESULT_TRACKED);
  }
}

void FillDefault(const v1::UntrackItemsRequest& request, v1::UntrackItemsResponse* response) {
  for (int i = 0; i < request.items_size(); ++i) {
    response->add_results(v1::UNTRACK_RESULT_UNTRACKED);
  }
}

void FillDefault(const v1::TouchItemsRequest& request, v1::TouchItemsResponse* response) {
  for (int i = 0; i < request.keys_size(); ++i) {
    response->add_results(v1::TOUCH_RESULT_TOUCHED);
    response->add_expire_times(0);
  }
}

void FillDefault(const v1::CheckVisibilityRequest& request, v1::CheckVisibilityResponse* response) {
  for (int i = 0; i < request.checks_size(); ++i) {
    response->add_visibilities(v1::VISIBILITY_VISIBLE);
    response->add_expire_times(0);
  }
}

void FillDefault(const v1::StreamCheckVisibilityRequest& request,
                 v1::StreamCheckVisibilityResponse* response) {
  FillDefault(request.request(), response->mutable_response());
}

void FillDefault(const v1::PlaceHoldRequest& request, v1::PlaceHoldResponse* response) {
  v1::Hold& hold = *response->mutable_hold();
  hold.set_container(request.container());
  hold.set_hold_id(request.hold_id());
  for (int i = 0; i < request.keys().keys_size(); ++i) {
    response->add_results(v1::PLACE_HOLD_RESULT_HELD);
  }
}

void FillDefault(const v1::AcknowledgeRequest& request, v1::AcknowledgeResponse* response) {
  response->set_acknowledged_sequence(request.sequence());
}

void FillDefault(const google::protobuf::Message&, google::protobuf::Message*) {}

}  // namespace

#define TTL_FAKE_METHOD(name)                                                       \
  grpc::Status name(grpc::ServerContext* context, const v1::name##Request* request, \
                    v1::name##Response* response) override {                        \
    return Handle(fake_, #name, context, *request, response);                       \
  }

class FakeSidecar::Services {
 public:
  explicit Services(FakeSidecar& fake)
      : containers_(fake), items_(fake), expiry_(fake), holds_(fake), feed_(fake) {}

  void Register(grpc::ServerBuilder& builder) {
    builder.RegisterService(&containers_);
    builder.RegisterService(&items_);
    builder.RegisterService(&expiry_);
    builder.RegisterService(&holds_);
    builder.RegisterService(&feed_);
  }

 private:
  template <typename Request, typename Response>
  static grpc::Status Handle(FakeSidecar& fake, const std::string& method,
                             grpc::ServerContext* context, const Request& request,
                             Response* response) {
    const std::optional<Reply> reply = fake.Receive(method, request);
    const bool hangs = reply.has_value() && reply->hang;
    if (hangs) fake.WaitForRelease(*reply);
    if (!reply.has_value() || hangs) {
      FillDefault(request, response);
      return grpc::Status::OK;
    }
    if (reply->pushback_milliseconds.has_value()) {
      context->AddTrailingMetadata("grpc-retry-pushback-ms",
                                   absl::StrCat(*reply->pushback_milliseconds));
    }
    if (reply->response != nullptr) response->CopyFrom(*reply->response);
    return reply->status;
  }

  class Containers : public v1::ContainerService::Service {
   public:
    explicit Containers(FakeSidecar& fake) : fake_(fake) {}
    TTL_FAKE_METHOD(CreateContainer)
    TTL_FAKE_METHOD(GetContainer)
    TTL_FAKE_METHOD(ListContainers)
    TTL_FAKE_METHOD(UpdateContainer)
    TTL_FAKE_METHOD(DeleteContainer)

   private:
    FakeSidecar& fake_;
  };

  class Items : public v1::ItemService::Service {
   public:
    explicit Items(FakeSidecar& fake) : fake_(fake) {}
    TTL_FAKE_METHOD(TrackItems)
    TTL_FAKE_METHOD(UntrackItems)
    TTL_FAKE_METHOD(TouchItems)
    TTL_FAKE_METHOD(CheckVisibility)
    TTL_FAKE_METHOD(GetItem)
    TTL_FAKE_METHOD(ListItems)

    grpc::Status StreamCheckVisibility(
        grpc::ServerContext* context,
        grpc::ServerReaderWriter<v1::StreamCheckVisibilityResponse,
                                 v1::StreamCheckVisibilityRequest>* stream) override {
      fake_.CountCheckStream();
      v1::StreamCheckVisibilityRequest request;
      while (stream->Read(&request)) {
        v1::StreamCheckVisibilityResponse response;
        const grpc::Status status =
            Handle(fake_, "StreamCheckVisibility", context, request, &response);
        if (!status.ok()) return status;
        stream->Write(response);
      }
      return grpc::Status::OK;
    }

   private:
    FakeSidecar& fake_;
  };

  class Expiry : public v1::ExpiryService::Service {
   public:
    explicit Expiry(FakeSidecar& fake) : fake_(fake) {}
    TTL_FAKE_METHOD(GetExpiryStatus)
    TTL_FAKE_METHOD(ListExpiryStatuses)
    TTL_FAKE_METHOD(ExplainItem)
    TTL_FAKE_METHOD(PauseDeletes)
    TTL_FAKE_METHOD(ResumeDeletes)
    TTL_FAKE_METHOD(AcceptClock)
    TTL_FAKE_METHOD(GetForecast)
    TTL_FAKE_METHOD(ListStuckItems)
    TTL_FAKE_METHOD(ReportUsage)
    TTL_FAKE_METHOD(ConfirmPolicy)
    TTL_FAKE_METHOD(ConfirmStore)
    TTL_FAKE_METHOD(SetMaxDeletesPerSecond)

   private:
    FakeSidecar& fake_;
  };

  class Holds : public v1::HoldService::Service {
   public:
    explicit Holds(FakeSidecar& fake) : fake_(fake) {}
    TTL_FAKE_METHOD(PlaceHold)
    TTL_FAKE_METHOD(ReleaseHold)
    TTL_FAKE_METHOD(ListHolds)
    TTL_FAKE_METHOD(ListHeldKeys)
    TTL_FAKE_METHOD(AcceptHolds)

   private:
    FakeSidecar& fake_;
  };

  class Feed : public v1::FeedService::Service {
   public:
    explicit Feed(FakeSidecar& fake) : fake_(fake) {}
    TTL_FAKE_METHOD(CreateSubscription)
    TTL_FAKE_METHOD(GetSubscription)
    TTL_FAKE_METHOD(ListSubscriptions)
    TTL_FAKE_METHOD(DeleteSubscription)
    TTL_FAKE_METHOD(Acknowledge)

    grpc::Status WatchEvents(grpc::ServerContext* context, const v1::WatchEventsRequest* request,
                             grpc::ServerWriter<v1::WatchEventsResponse>* writer) override {
      fake_.Record("WatchEvents", *request);
      while (const auto reply = fake_.AwaitReply("WatchEvents", *context)) {
        if (reply->response == nullptr) return reply->status;
        writer->Write(dynamic_cast<const v1::WatchEventsResponse&>(*reply->response));
      }
      return grpc::Status::CANCELLED;
    }

   private:
    FakeSidecar& fake_;
  };

  Containers containers_;
  Items items_;
  Expiry expiry_;
  Holds holds_;
  Feed feed_;
};

#undef TTL_FAKE_METHOD

FakeSidecar::FakeSidecar() : FakeSidecar("") {}

FakeSidecar::FakeSidecar(const std::string& socket_path)
    : address_(absl::StrCat("unix:",
                            socket_path.empty() ? directory_.File("sidecar.sock") : socket_path)),
      services_(std::make_unique<Services>(*this)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
  services_->Register(builder);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    std::cerr << "FakeSidecar cannot listen on " << address_ << std::endl;
    std::abort();
  }
}

FakeSidecar::~FakeSidecar() {
  {
    MutexLock lock(mutex_);
    destroying_ = true;
    released_.NotifyAll();
  }
  // Streams of clients that stay would never end by themselves.
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

void FakeSidecar::Answer(absl::string_view method, const google::protobuf::Message& response) {
  Reply reply;
  std::shared_ptr<google::protobuf::Message> copy(response.New());
  copy->CopyFrom(response);
  reply.response = std::move(copy);
  Tell(method, std::move(reply));
}

void FakeSidecar::Fail(absl::string_view method, const grpc::Status& status,
                       std::optional<int> pushback_milliseconds) {
  Reply reply;
  reply.status = status;
  reply.pushback_milliseconds = pushback_milliseconds;
  Tell(method, std::move(reply));
}

void FakeSidecar::Hang(absl::string_view method) {
  Reply reply;
  reply.hang = true;
  Tell(method, std::move(reply));
}

void FakeSidecar::Release() {
  MutexLock lock(mutex_);
  ++releases_;
  released_.NotifyAll();
}

int FakeSidecar::CheckStreams() const {
  MutexLock lock(mutex_);
  return check_streams_;
}

int FakeSidecar::Calls(absl::string_view method) const {
  return static_cast<int>(RawRequests(method).size());
}

std::vector<std::shared_ptr<const google::protobuf::Message>> FakeSidecar::RawRequests(
    absl::string_view method) const {
  MutexLock lock(mutex_);
  const auto it = requests_.find(std::string(method));
  if (it == requests_.end()) return {};
  return it->second;
}

void FakeSidecar::Tell(absl::string_view method, Reply reply) {
  MutexLock lock(mutex_);
  replies_[std::string(method)].push_back(std::move(reply));
}

void FakeSidecar::Record(const std::string& method, const google::protobuf::Message& request) {
  std::shared_ptr<google::protobuf::Message> copy(request.New());
  copy->CopyFrom(request);
  MutexLock lock(mutex_);
  requests_[method].push_back(std::move(copy));
}

std::optional<FakeSidecar::Reply> FakeSidecar::NextReply(const std::string& method) {
  std::deque<Reply>& replies = replies_[method];
  if (replies.empty()) return std::nullopt;
  Reply reply = std::move(replies.front());
  replies.pop_front();
  reply.releases = releases_;
  return reply;
}

std::optional<FakeSidecar::Reply> FakeSidecar::Receive(const std::string& method,
                                                       const google::protobuf::Message& request) {
  Record(method, request);
  MutexLock lock(mutex_);
  return NextReply(method);
}

std::optional<FakeSidecar::Reply> FakeSidecar::AwaitReply(const std::string& method,
                                                          const grpc::ServerContext& context) {
  MutexLock lock(mutex_);
  // Nobody tells that a call was cancelled.
  while (replies_[method].empty() && !destroying_ && !context.IsCancelled()) {
    released_.WaitFor(mutex_, std::chrono::milliseconds(5));
  }
  if (destroying_ || context.IsCancelled()) return std::nullopt;
  return NextReply(method);
}

void FakeSidecar::CountCheckStream() {
  MutexLock lock(mutex_);
  ++check_streams_;
}

void FakeSidecar::WaitForRelease(const Reply& reply) {
  MutexLock lock(mutex_);
  while (!destroying_ && releases_ == reply.releases) released_.Wait(mutex_);
}

}  // namespace ttl
