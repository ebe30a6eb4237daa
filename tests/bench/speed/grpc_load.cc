#include "tests/bench/speed/grpc_load.h"

#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/bench/speed/stream_load.h"
#include "tests/bench/speed/unary_load.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::bench {
namespace {

constexpr size_t kPreparedRequests = 512;

using CheckTraffic = UnaryTraffic<v1::CheckVisibilityResponse>;
using CheckStreamTraffic =
    StreamTraffic<v1::StreamCheckVisibilityRequest, v1::StreamCheckVisibilityResponse>;
using TrackTraffic = UnaryTraffic<v1::TrackItemsResponse>;
using TrackStreamTraffic = StreamTraffic<v1::StreamTrackItemsRequest, v1::StreamTrackItemsResponse>;

int64_t NowSeconds() { return absl::ToUnixSeconds(absl::Now()); }

// Checks on their way to one server, and what is expected of the answers.
class Checks {
 public:
  Checks(const Server& server, const LoadShape& shape, std::unique_ptr<CheckSource> source)
      : server_(server),
        shape_(shape),
        stub_(v1::ItemService::NewStub(server.channel)),
        source_(std::move(source)),
        expected_(shape.in_flight) {}

  absl::StatusOr<Sample> Measure(const Window& window) {
    return shape_.streamed ? MeasureStream(window) : MeasureUnary(window);
  }

 private:
  const v1::StreamCheckVisibilityRequest& Next(size_t slot) {
    expected_[slot] = &source_->Next(slot);
    return expected_[slot]->message;
  }

  bool IsExpected(size_t slot, const v1::CheckVisibilityResponse& response) const {
    return server_.is_echo ? IsEcho(response, *expected_[slot])
                           : IsRight(response, *expected_[slot]);
  }

  absl::StatusOr<Sample> MeasureUnary(const Window& window) {
    CheckTraffic traffic;
    traffic.units = shape_.batch;
    traffic.start = [this](size_t slot, grpc::ClientContext& context,
                           grpc::CompletionQueue& queue) {
      return stub_->AsyncCheckVisibility(&context, Next(slot).request(), &queue);
    };
    traffic.is_right = [this](size_t slot, const v1::CheckVisibilityResponse& response) {
      return IsExpected(slot, response);
    };
    return UnaryLoad(traffic, shape_.in_flight).Measure(window, server_.pid);
  }

  absl::StatusOr<Sample> MeasureStream(const Window& window) {
    CheckStreamTraffic traffic;
    traffic.units = shape_.batch;
    traffic.open = [this](grpc::ClientContext& context, grpc::CompletionQueue& queue, void* tag) {
      return stub_->AsyncStreamCheckVisibility(&context, &queue, tag);
    };
    traffic.next = [this](size_t slot) -> const v1::StreamCheckVisibilityRequest& {
      return Next(slot);
    };
    traffic.is_right = [this](size_t slot, const v1::StreamCheckVisibilityResponse& response) {
      return IsExpected(slot, response.response());
    };
    return StreamLoad(traffic, shape_.in_flight).Measure(window, server_.pid);
  }

  const Server server_;
  const LoadShape shape_;
  const std::unique_ptr<v1::ItemService::Stub> stub_;
  const std::unique_ptr<CheckSource> source_;
  std::vector<const PreparedCheck*> expected_;
};

// Reports on their way to one server.
class Tracks {
 public:
  Tracks(const Server& server, const LoadShape& shape)
      : server_(server),
        shape_(shape),
        stub_(v1::ItemService::NewStub(server.channel)),
        requests_(shape.batch, NowSeconds()) {}

  absl::StatusOr<Sample> Measure(const Window& window) {
    return shape_.streamed ? MeasureStream(window) : MeasureUnary(window);
  }

 private:
  absl::StatusOr<Sample> MeasureUnary(const Window& window) {
    TrackTraffic traffic;
    traffic.units = shape_.batch;
    traffic.start = [this](size_t, grpc::ClientContext& context, grpc::CompletionQueue& queue) {
      return stub_->AsyncTrackItems(&context, requests_.Next().request(), &queue);
    };
    traffic.is_right = [this](size_t, const v1::TrackItemsResponse& response) {
      return IsTracked(response, shape_.batch);
    };
    return UnaryLoad(traffic, shape_.in_flight).Measure(window, server_.pid);
  }

  absl::StatusOr<Sample> MeasureStream(const Window& window) {
    TrackStreamTraffic traffic;
    traffic.units = shape_.batch;
    traffic.open = [this](grpc::ClientContext& context, grpc::CompletionQueue& queue, void* tag) {
      return stub_->AsyncStreamTrackItems(&context, &queue, tag);
    };
    traffic.next = [this](size_t) -> const v1::StreamTrackItemsRequest& {
      return requests_.Next();
    };
    traffic.is_right = [this](size_t, const v1::StreamTrackItemsResponse& response) {
      return IsTracked(response.response(), shape_.batch);
    };
    return StreamLoad(traffic, shape_.in_flight).Measure(window, server_.pid);
  }

  const Server server_;
  const LoadShape shape_;
  const std::unique_ptr<v1::ItemService::Stub> stub_;
  TrackRequests requests_;
};

}  // namespace

Measurement CheckLoad(const Server& server, const LoadShape& shape, uint64_t items,
                      ItemsDrawn drawn) {
  std::unique_ptr<CheckSource> source;
  if (drawn == ItemsDrawn::kAnew) {
    source = std::make_unique<DrawnChecks>(items, shape.batch, shape.in_flight);
  } else {
    source = std::make_unique<RepeatedChecks>(items, shape.batch, kPreparedRequests);
  }
  const auto checks = std::make_shared<Checks>(server, shape, std::move(source));
  return [checks](const Window& window) { return checks->Measure(window); };
}

Measurement TrackLoad(const Server& server, const LoadShape& shape) {
  const auto tracks = std::make_shared<Tracks>(server, shape);
  return [tracks](const Window& window) { return tracks->Measure(window); };
}

}  // namespace ttl::bench
