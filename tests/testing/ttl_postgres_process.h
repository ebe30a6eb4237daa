#ifndef TTL_TESTS_TESTING_TTL_POSTGRES_PROCESS_H_
#define TTL_TESTS_TESTING_TTL_POSTGRES_PROCESS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/testing/server_process.h"

namespace ttl {

// Where and how to run a ttl-postgres.
struct TtlPostgresProcessOptions {
  // Existing directory (of a TempDir) that takes socket, configuration and log.
  std::string dir;
  // Distinguishes several in one directory: the socket is NAME.sock, the configuration
  // NAME.yaml, the log NAME.log.
  std::string name = "postgres";
  // The field `database`.
  std::string conninfo;
  // The field `sidecar`.
  std::string sidecar_address;
  // The rest of the configuration, from `tables:` on, and what else is wanted.
  std::string yaml;
  // As in SubprocessOptions, for the process and not for RunCommand().
  int error_fd = -1;
};

// The real ttl-postgres on a Unix socket. Ready when its health service answers SERVING
// for "readiness".
class TtlPostgresProcess : public ServerProcess {
 public:
  // Writes the configuration.
  explicit TtlPostgresProcess(const TtlPostgresProcessOptions& options);

  // Where its socket will be, for the sidecar's --store.
  static std::string AddressOf(const TtlPostgresProcessOptions& options);

  // Writes another configuration, which a running process reads on SIGHUP. What `options` name
  // beside it must be as it was.
  static void Reconfigure(const TtlPostgresProcessOptions& options);

  // Runs another command of the program, such as "install", to its end. An error if it does
  // not exit with 0; Log() has what it said.
  absl::Status RunCommand(const std::vector<std::string>& arguments);

 private:
  const std::string config_path_;
  const std::string log_path_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_TTL_POSTGRES_PROCESS_H_
