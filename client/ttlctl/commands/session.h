#ifndef TTL_CLIENT_TTLCTL_COMMANDS_SESSION_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_SESSION_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/cpp/ttl_client.h"
#include "client/ttlctl/commands/exit_code.h"
#include "client/ttlctl/text/terminal.h"
#include "google/protobuf/message.h"
#include "grpcpp/security/credentials.h"

namespace ttl {

// Options that hold for every command.
struct GlobalOptions {
  std::string server = TtlClientOptions().address;
  std::shared_ptr<grpc::ChannelCredentials> credentials;  // null: plain text
  std::string tls_server_name;                            // empty: the host of `server`
  // For each call; the defaults of TtlClientOptions if absent.
  std::optional<double> timeout_seconds;
  bool json = false;
};

// One run of one command: its connection, its streams, and how it shows results
// and failures. Not thread-safe.
class Session {
 public:
  Session(const GlobalOptions& options, const Terminal& terminal);

  TtlClient& client() { return client_; }
  const Terminal& terminal() const { return terminal_; }
  bool json() const { return json_; }

  // Writes `message` as one line of JSON with --json, else `text`.
  void Print(const google::protobuf::Message& message, absl::string_view text);

  // Writes text for people. What others have put into it, such as the reason of a
  // pause or an error of the store, cannot steer the terminal.
  void PrintText(absl::string_view text);

  // Says on one line of the error stream what went wrong, and returns the code
  // to exit with.
  ExitCode Fail(const absl::Status& status);
  ExitCode Fail(ExitCode code, absl::string_view message);

 private:
  const Terminal terminal_;
  const bool json_;
  TtlClient client_;
};

// `message` in the JSON mapping of protobuf on one line, with the field names
// of the protos; fields without presence are always there.
std::string ToJson(const google::protobuf::Message& message);

// Writes "ttlctl: <message>" as exactly one line, of which the same holds.
void PrintError(std::ostream& err, absl::string_view message);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_SESSION_H_
