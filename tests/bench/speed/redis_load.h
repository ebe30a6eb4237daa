#ifndef TTL_TESTS_BENCH_SPEED_REDIS_LOAD_H_
#define TTL_TESTS_BENCH_SPEED_REDIS_LOAD_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/bench/speed/sample.h"
#include "tests/testing/process.h"

namespace ttl::bench {

// A redis-server of our own on a Unix socket, with its files in `directory`. Killed on
// destruction.
class RedisProcess {
 public:
  enum class Durability { kNone, kEveryWrite };  // kEveryWrite: appendfsync always

  // Whether there is a redis-server to start.
  static bool IsInstalled();

  // Starts it and waits until it takes connections.
  static absl::StatusOr<std::unique_ptr<RedisProcess>> Start(const std::string& directory,
                                                             Durability durability);

  const std::string& socket_path() const { return socket_path_; }
  pid_t pid() const { return process_->pid(); }

 private:
  RedisProcess(std::string socket_path, std::unique_ptr<Subprocess> process);

  const std::string socket_path_;
  const std::unique_ptr<Subprocess> process_;
};

// How the commands come: on each of some connections so many at once, the next ones when
// all of them are answered. One thread.
struct RedisShape {
  int connections = 1;
  int pipelined = 1;
};

// Keys asked for per second with EXISTS, drawn as by CheckLoad(). They must be loaded.
Measurement RedisExistsLoad(const RedisProcess& redis, const RedisShape& shape, uint64_t items);

// New keys set per second with SET key value EX.
Measurement RedisSetLoad(const RedisProcess& redis, const RedisShape& shape);

// Sets the first `items` keys that are visible by TruthOf().
absl::Status LoadRedis(const RedisProcess& redis, uint64_t items);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_REDIS_LOAD_H_
