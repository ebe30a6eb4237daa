#ifndef TTL_TESTS_BENCH_ECHO_ANSWERS_H_
#define TTL_TESTS_BENCH_ECHO_ANSWERS_H_

#include <cstddef>
#include <vector>

#include "ttl/v1/item_service.pb.h"

// Answers as large as those of the sidecar, made in advance.
namespace ttl::bench {

void Fill(int items, v1::CheckVisibilityResponse& response);
void Fill(int items, v1::TrackItemsResponse& response);
void Fill(int items, v1::StreamCheckVisibilityResponse& response);
void Fill(int items, v1::StreamTrackItemsResponse& response);

int CountItems(const v1::CheckVisibilityRequest& request);
int CountItems(const v1::TrackItemsRequest& request);
int CountItems(const v1::StreamCheckVisibilityRequest& message);
int CountItems(const v1::StreamTrackItemsRequest& message);

// Immutable after construction, so safe to share between threads.
template <typename Request, typename Response>
class Answers {
 public:
  // More items are answered as if they were so many: the asker notices.
  static constexpr int kMaxItems = 1000;

  Answers() : by_items_(kMaxItems + 1) {
    for (int items = 0; items <= kMaxItems; ++items) {
      Fill(items, by_items_[static_cast<size_t>(items)]);
    }
  }

  const Response& For(const Request& request) const {
    const int items = CountItems(request);
    return by_items_[static_cast<size_t>(items < kMaxItems ? items : kMaxItems)];
  }

 private:
  std::vector<Response> by_items_;
};

// Those of all methods.
struct AllAnswers {
  Answers<v1::CheckVisibilityRequest, v1::CheckVisibilityResponse> check;
  Answers<v1::TrackItemsRequest, v1::TrackItemsResponse> track;
  Answers<v1::StreamCheckVisibilityRequest, v1::StreamCheckVisibilityResponse> check_message;
  Answers<v1::StreamTrackItemsRequest, v1::StreamTrackItemsResponse> track_message;
};

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_ECHO_ANSWERS_H_
