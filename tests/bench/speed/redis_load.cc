#include "tests/bench/speed/redis_load.h"

#include <unistd.h>

#include <filesystem>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "service/base/status_macros.h"
#include "tests/bench/speed/item_names.h"
#include "tests/bench/speed/load_requests.h"
#include "tests/bench/speed/pipe_connections.h"
#include "tests/bench/speed/window_meter.h"
#include "tests/testing/wait.h"

namespace ttl::bench {
namespace {

// Of the package redis-tools: the program of redis-server too, which becomes that by its
// name. The package redis-server would bring a running service with it.
constexpr char kProgram[] = "/usr/bin/redis-check-rdb";
constexpr size_t kPreparedBatches = 512;

std::string Command(const std::vector<std::string>& words) {
  std::string text = absl::StrCat("*", words.size(), "\r\n");
  for (const std::string& word : words) {
    absl::StrAppend(&text, "$", word.size(), "\r\n", word, "\r\n");
  }
  return text;
}

// As many bytes as the sidecar keeps of an item, about.
std::string SetCommand(uint64_t item) {
  return Command({"SET", JoinedKeyOf(item), "1800000000/86400", "EX", "86400"});
}

// Commands that are sent at once, and what is to be answered to them.
struct Batch {
  std::string commands;
  std::string answers;
};

std::vector<Batch> ExistsBatches(uint64_t items, int pipelined) {
  std::mt19937_64 random(items);
  std::vector<Batch> batches(kPreparedBatches);
  for (Batch& batch : batches) {
    for (int i = 0; i < pipelined; ++i) {
      const uint64_t item = random() % items;
      batch.commands += Command({"EXISTS", JoinedKeyOf(item)});
      batch.answers += TruthOf(item) == v1::VISIBILITY_VISIBLE ? ":1\r\n" : ":0\r\n";
    }
  }
  return batches;
}

// A batch of SET commands of new keys, made of the one before by overwriting digits.
class SetBatch {
 public:
  explicit SetBatch(int pipelined) : pipelined_(pipelined) {
    const std::string command = SetCommand(0);
    key_end_ = command.find(JoinedKeyOf(0)) + JoinedKeyOf(0).size();
    command_bytes_ = command.size();
    for (int i = 0; i < pipelined; ++i) {
      batch_.commands += command;
      batch_.answers += "+OK\r\n";
    }
  }

  const Batch& Next() {
    char* end = batch_.commands.data() + key_end_;
    for (int i = 0; i < pipelined_; ++i, end += command_bytes_) {
      RenumberJoinedKey(end, Scattered(sequence_++));
    }
    return batch_;
  }

 private:
  const int pipelined_;
  size_t key_end_ = 0;
  size_t command_bytes_ = 0;
  uint64_t sequence_ = 0;
  Batch batch_;
};

// Keeps one batch under way on every connection. `next` gives the batch that connection
// `i` sends; it is valid until the next call for that connection, or for always.
template <typename Next>
absl::StatusOr<Sample> Measure(const RedisProcess& redis, const RedisShape& shape,
                               const Window& window, Next next) {
  TTL_ASSIGN_OR_RETURN(PipeConnections connections,
                       PipeConnections::Open(redis.socket_path(), shape.connections));
  WindowMeter meter(window, redis.pid());
  const auto send = [&](int i) {
    const Batch& batch = next(i);
    return connections.Send(i, batch.commands, batch.answers);
  };
  for (int i = 0; i < shape.connections; ++i) TTL_RETURN_IF_ERROR(send(i));
  while (true) {
    TTL_ASSIGN_OR_RETURN(const std::vector<int> answered, connections.Wait());
    for (const int i : answered) {
      if (!meter.Count(shape.pipelined)) return meter.Result();
      TTL_RETURN_IF_ERROR(send(i));
    }
  }
}

}  // namespace

bool RedisProcess::IsInstalled() { return access(kProgram, X_OK) == 0; }

RedisProcess::RedisProcess(std::string socket_path, std::unique_ptr<Subprocess> process)
    : socket_path_(std::move(socket_path)), process_(std::move(process)) {}

absl::StatusOr<std::unique_ptr<RedisProcess>> RedisProcess::Start(const std::string& directory,
                                                                  Durability durability) {
  const bool durable = durability == Durability::kEveryWrite;
  const std::string name = durable ? "/redis-durable" : "/redis";
  SubprocessOptions options;
  options.output_path = absl::StrCat(directory, name, ".log");
  const std::string socket_path = absl::StrCat(directory, name, ".sock");
  const std::string program = absl::StrCat(directory, "/redis-server");
  std::error_code error;  // of the symbolic link: then it cannot be started either
  std::filesystem::create_symlink(kProgram, program, error);
  options.argv = {program,
                  "--port",
                  "0",
                  "--save",
                  "",
                  "--unixsocket",
                  socket_path,
                  "--appendonly",
                  durable ? "yes" : "no",
                  "--appendfsync",
                  "always",
                  "--dir",
                  directory};
  TTL_ASSIGN_OR_RETURN(std::unique_ptr<Subprocess> process, Subprocess::Start(options));
  const auto takes_connections = [&] { return PipeConnections::Open(socket_path, 1).ok(); };
  if (!WaitUntil(takes_connections, absl::Seconds(60))) {
    return absl::DeadlineExceededError(
        absl::StrCat("redis-server takes no connections; see ", options.output_path));
  }
  return std::unique_ptr<RedisProcess>(new RedisProcess(socket_path, std::move(process)));
}

Measurement RedisExistsLoad(const RedisProcess& redis, const RedisShape& shape, uint64_t items) {
  const auto batches =
      std::make_shared<const std::vector<Batch>>(ExistsBatches(items, shape.pipelined));
  return [&redis, shape, batches](const Window& window) {
    size_t sent = 0;
    return Measure(redis, shape, window, [&](int /*connection*/) -> const Batch& {
      return (*batches)[sent++ % batches->size()];
    });
  };
}

Measurement RedisSetLoad(const RedisProcess& redis, const RedisShape& shape) {
  const auto batch = std::make_shared<SetBatch>(shape.pipelined);
  return [&redis, shape, batch](const Window& window) {
    return Measure(redis, shape, window,
                   [&](int /*connection*/) -> const Batch& { return batch->Next(); });
  };
}

absl::Status LoadRedis(const RedisProcess& redis, uint64_t items) {
  constexpr uint64_t kBatch = 100;
  TTL_ASSIGN_OR_RETURN(PipeConnections connections, PipeConnections::Open(redis.socket_path(), 1));
  for (uint64_t first = 0; first < items; first += kBatch) {
    Batch batch;
    for (uint64_t item = first; item < first + kBatch && item < items; ++item) {
      if (TruthOf(item) != v1::VISIBILITY_VISIBLE) continue;
      batch.commands += SetCommand(item);
      batch.answers += "+OK\r\n";
    }
    if (batch.answers.empty()) continue;
    TTL_RETURN_IF_ERROR(connections.Send(0, batch.commands, batch.answers));
    TTL_RETURN_IF_ERROR(connections.Wait().status());
  }
  return absl::OkStatus();
}

}  // namespace ttl::bench
