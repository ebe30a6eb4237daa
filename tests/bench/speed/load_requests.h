#ifndef TTL_TESTS_BENCH_SPEED_LOAD_REQUESTS_H_
#define TTL_TESTS_BENCH_SPEED_LOAD_REQUESTS_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ttl/v1/item_service.pb.h"

// Requests, prepared so that sending one costs the generator little, and what the right
// answers to them are.
namespace ttl::bench {

inline constexpr char kLoadedContainer[] = "bench/loaded";
inline constexpr char kTrackedContainer[] = "bench/tracked";

// What item `item` of the loaded container is: most are visible, every tenth is
// expired, every hundredth was never tracked.
v1::Visibility TruthOf(uint64_t item);

// The reports that make the truth true: of items `first` up to `end`, without those that
// are never tracked.
v1::TrackItemsRequest LoadRequest(uint64_t first, uint64_t end, int64_t now);

// A request, as a message of a stream has it, and the right answers to it.
struct PreparedCheck {
  v1::StreamCheckVisibilityRequest message;
  std::vector<int> truth;  // of Visibility
};

// Where the checks of a load come from.
class CheckSource {
 public:
  virtual ~CheckSource() = default;

  // The next one. `slot` tells those under way at one time apart: valid until the next
  // call for that slot.
  virtual const PreparedCheck& Next(size_t slot) = 0;
};

// `count` requests of `keys` checks each, of the first `items` items, over and over.
class RepeatedChecks : public CheckSource {
 public:
  RepeatedChecks(uint64_t items, int keys, size_t count);
  const PreparedCheck& Next(size_t slot) override;

 private:
  std::vector<PreparedCheck> prepared_;
  size_t next_ = 0;
};

// Drawn anew every time, from more items than could be prepared.
class DrawnChecks : public CheckSource {
 public:
  DrawnChecks(uint64_t items, int keys, size_t slots);
  const PreparedCheck& Next(size_t slot) override;

 private:
  const uint64_t items_;
  std::mt19937_64 random_;
  std::vector<PreparedCheck> slots_;
};

// Reports of items that were never reported before, as long as one object lives.
class TrackRequests {
 public:
  TrackRequests(int items, int64_t ts);

  // Valid until the next call.
  const v1::StreamTrackItemsRequest& Next();

 private:
  v1::StreamTrackItemsRequest message_;
  uint64_t sequence_ = 0;
};

// Whether these are the answers to `prepared`, with an instant that they were judged at.
bool IsRight(const v1::CheckVisibilityResponse& response, const PreparedCheck& prepared);

// The same for one that knows of no item: all visible.
bool IsEcho(const v1::CheckVisibilityResponse& response, const PreparedCheck& prepared);

// Whether `items` reports were accepted.
bool IsTracked(const v1::TrackItemsResponse& response, int items);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_LOAD_REQUESTS_H_
