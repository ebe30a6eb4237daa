// The file of options (TOML) and the addresses in it: what is accepted lies within the
// bounds that the options state, and no file ends the program.

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "service/server/config/config.h"
#include "tests/fuzz/fuzz_input.h"

namespace ttl {
namespace {

// A file of these bytes that nobody else has.
class MemoryFile {
 public:
  explicit MemoryFile(absl::string_view bytes) : fd_(memfd_create("options", MFD_CLOEXEC)) {
    Require(write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "the file can be made");
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return absl::StrCat("/proc/self/fd/", fd_); }

 private:
  const int fd_;
};

void RequireBounds(const ServerConfig& config) {
  Require(!config.listen_sockets.empty() || !config.listen_tcp.empty(), "somewhere to listen");
  Require(config.max_deletes_per_second.value_or(0) >= 0, "a possible rate");
  Require(config.delete_batch_items >= 1, "a batch");
  Require(config.delete_deadline > absl::ZeroDuration(), "a deadline");
  Require(config.max_queued_writes >= 1 && config.max_queued_bytes >= 1, "a queue");
  Require(config.max_message_bytes >= 1, "messages");
  Require(config.max_streams_per_connection >= 1, "calls");
  Require(config.rpc_memory_bytes >= 1, "memory");
  Require(config.outcome_floor_bytes <= config.report_floor_bytes, "outcomes after reports");
}

void ReadOptions(absl::string_view bytes) {
  const MemoryFile file(bytes);
  const std::string path = file.path();
  const char* const argv[] = {"ttl-sidecar", "--config", path.c_str()};
  const auto line = ParseCommandLine(3, argv);
  if (line.ok()) {
    RequireBounds(line->config);
  } else {
    Require(absl::IsInvalidArgument(line.status()), "refused as the file's fault");
  }
}

void ReadAddress(absl::string_view value) {
  const auto socket = ParseListenSocket(value);
  if (socket.ok()) Require(socket->mode.value_or(0) <= 0777, "a mode");
  const auto tcp = ParseListenTcp(value);
  if (tcp.ok()) Require(ParseHostPort(tcp->host_port).ok(), "host and port");
}

}  // namespace
}  // namespace ttl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  ttl::ReadOptions(bytes);
  ttl::ReadAddress(bytes);
  return 0;
}
