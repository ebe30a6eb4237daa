#ifndef TTL_TESTS_TESTING_SIDECAR_PROCESS_H_
#define TTL_TESTS_TESTING_SIDECAR_PROCESS_H_

#include <map>
#include <string>
#include <vector>

#include "tests/testing/server_process.h"

namespace ttl {

// Options of a sidecar process.
struct SidecarProcessOptions {
  // An existing directory (of a TempDir) for socket, data and log.
  std::string dir;
  // Distinguishes several sidecars in one directory: the socket is NAME.sock,
  // the data directory NAME.data, the log NAME.log.
  std::string name = "sidecar";
  // Value of --store; empty: the flag is not given.
  std::string store_address;
  // Further flags.
  std::vector<std::string> flags;
  std::map<std::string, std::string> env;
  // As in SubprocessOptions.
  int error_fd = -1;
};

// The real ttl-sidecar on a Unix socket. Ready when its health service answers
// SERVING for "readiness".
class SidecarProcess : public ServerProcess {
 public:
  explicit SidecarProcess(const SidecarProcessOptions& options);

  const std::string& socket_path() const { return socket_path_; }
  const std::string& data_dir() const { return data_dir_; }

  // The ports of its TCP addresses, in the order of --listen-tcp and then --health-tcp. Waits
  // until the process that was started last has logged that it is ready; empty if it does not.
  std::vector<int> TcpPorts() const;

 private:
  const std::string socket_path_;
  const std::string data_dir_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_SIDECAR_PROCESS_H_
