#ifndef TTL_CLIENT_TTLCTL_COMMANDS_SESSION_H_
#define TTL_CLIENT_TTLCTL_COMMANDS_SESSION_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/ttlctl/commands/exit_code.h"
#include "client/ttlctl/commands/output_format.h"
#include "client/ttlctl/text/terminal.h"
#include "google/protobuf/message.h"
#include "grpcpp/security/credentials.h"
#include "nlohmann/json.hpp"
#include "ttl/client.h"

namespace ttl {

// Options common to all commands.
struct GlobalOptions {
  std::string server = TtlClientOptions().address;
  std::shared_ptr<grpc::ChannelCredentials> credentials;  // null: plain text
  std::string tls_server_name;                            // empty: the host of `server`
  // Deadline of each call; absent: the defaults of TtlClientOptions.
  std::optional<double> timeout_seconds;
  OutputFormat format = OutputFormat::kTable;
};

// One run of one command: its connection, its streams, and the output of results and errors. Not
// thread-safe.
class Session {
 public:
  Session(const GlobalOptions& options, const Terminal& terminal);
  // The same connection and format with other streams.
  Session(const Session& other, const Terminal& terminal);

  TtlClient& client() { return *client_; }
  const Terminal& terminal() const { return terminal_; }
  OutputFormat format() const { return format_; }
  // Whether the output is for programs: JSON or YAML.
  bool structured() const { return format_ != OutputFormat::kTable; }

  // Writes `message` if the output is for programs, otherwise `text`.
  void Print(const google::protobuf::Message& message, absl::string_view text);

  // Writes a result that is no message. REQUIRES: structured().
  void PrintObject(const nlohmann::ordered_json& object);

  // Writes human-readable text. Control characters are escaped, so that text of others, such as the
  // reason of a pause or an error of the store, cannot control the terminal.
  void PrintText(absl::string_view text);

  // The code of the last status that Fail() was given; kOk if there was none.
  absl::StatusCode failure() const { return failure_; }

  // Writes the error as one line to the error stream and returns its exit code.
  ExitCode Fail(const absl::Status& status);
  ExitCode Fail(ExitCode code, absl::string_view message);

 private:
  const Terminal terminal_;
  const OutputFormat format_;
  const std::shared_ptr<TtlClient> client_;
  absl::StatusCode failure_ = absl::StatusCode::kOk;
};

// `message` in the JSON mapping of protobuf, on one line, with the field names of the protos.
// Fields without presence are always included.
std::string ToJson(const google::protobuf::Message& message);

// Writes "ttlctl: <message>" as exactly one line, with control characters escaped.
void PrintError(std::ostream& err, absl::string_view message);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_COMMANDS_SESSION_H_
