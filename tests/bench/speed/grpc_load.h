#ifndef TTL_TESTS_BENCH_SPEED_GRPC_LOAD_H_
#define TTL_TESTS_BENCH_SPEED_GRPC_LOAD_H_

#include <grpcpp/channel.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tests/bench/speed/load_requests.h"
#include "tests/bench/speed/sample.h"

// Load on the data path of the sidecar, or of the echo that stands for it.
namespace ttl::bench {

// A server and how its answers are to be judged.
struct Server {
  std::shared_ptr<grpc::Channel> channel;
  pid_t pid = 0;
  bool is_echo = false;  // knows of no item
};

// How the load comes.
struct LoadShape {
  int batch = 1;          // items in a call or message
  size_t in_flight = 64;  // calls, or messages of one stream
  bool streamed = false;
};

// The items that the checks are of. They must be loaded.
enum class ItemsDrawn { kPrepared, kAnew };

// Keys checked per second.
Measurement CheckLoad(const Server& server, const LoadShape& shape, uint64_t items,
                      ItemsDrawn drawn = ItemsDrawn::kPrepared);

// Items tracked per second, durably; new ones, always.
Measurement TrackLoad(const Server& server, const LoadShape& shape);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_GRPC_LOAD_H_
