#include "tests/bench/echo/answers.h"

namespace ttl::bench {
namespace {

// Like those of the present, so that they are as long on the wire.
constexpr int64_t kInstant = 1'800'000'000;
constexpr int32_t kNanos = 123'456'789;

}  // namespace

void Fill(int items, v1::CheckVisibilityResponse& response) {
  for (int i = 0; i < items; ++i) {
    response.add_visibilities(v1::VISIBILITY_VISIBLE);
    response.add_expire_times(kInstant);
  }
  response.mutable_judged_at()->set_seconds(kInstant);
  response.mutable_judged_at()->set_nanos(kNanos);
}

void Fill(int items, v1::TrackItemsResponse& response) {
  for (int i = 0; i < items; ++i) response.add_results(v1::TRACK_RESULT_TRACKED);
}

void Fill(int items, v1::StreamCheckVisibilityResponse& response) {
  Fill(items, *response.mutable_response());
}

void Fill(int items, v1::StreamTrackItemsResponse& response) {
  Fill(items, *response.mutable_response());
}

int CountItems(const v1::CheckVisibilityRequest& request) { return request.checks_size(); }
int CountItems(const v1::TrackItemsRequest& request) { return request.items_size(); }
int CountItems(const v1::StreamCheckVisibilityRequest& message) {
  return CountItems(message.request());
}
int CountItems(const v1::StreamTrackItemsRequest& message) { return CountItems(message.request()); }

}  // namespace ttl::bench
