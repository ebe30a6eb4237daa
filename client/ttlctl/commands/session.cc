#include "client/ttlctl/commands/session.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/ttlctl/input/key_text.h"
#include "client/ttlctl/text/yaml/yaml_text.h"
#include "google/protobuf/util/json_util.h"

namespace ttl {
namespace {

TtlClientOptions ClientOptions(const GlobalOptions& options) {
  TtlClientOptions client_options;
  client_options.address = options.server;
  client_options.credentials = options.credentials;
  client_options.tls_server_name = options.tls_server_name;
  client_options.wait_for_sidecar = false;  // a user or a probe waits for the command
  if (options.timeout_seconds.has_value()) {
    const absl::Duration timeout = absl::Seconds(*options.timeout_seconds);
    client_options.check_deadline = timeout;
    client_options.report_deadline = timeout;
    client_options.admin_deadline = timeout;
  }
  return client_options;
}

absl::string_view Advice(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return " (is the sidecar running, and is --server or TTL_SIDECAR_ADDRESS its address?)";
    case absl::StatusCode::kDeadlineExceeded:
      return " (allow more with --timeout-seconds)";
    case absl::StatusCode::kUnimplemented:
      return " (is this the address of a ttl-sidecar, and of this version?)";
    default:
      return "";
  }
}

}  // namespace

Session::Session(const GlobalOptions& options, const Terminal& terminal)
    : terminal_(terminal),
      format_(options.format),
      client_(std::make_shared<TtlClient>(ClientOptions(options))) {}

Session::Session(const Session& other, const Terminal& terminal)
    : terminal_(terminal), format_(other.format_), client_(other.client_) {}

void Session::Print(const google::protobuf::Message& message, absl::string_view text) {
  switch (format_) {
    case OutputFormat::kTable:
      PrintText(text);
      break;
    case OutputFormat::kJson:
      terminal_.out << ToJson(message) << "\n";
      break;
    case OutputFormat::kYaml:
      PrintObject(nlohmann::ordered_json::parse(ToJson(message)));
      break;
  }
}

void Session::PrintObject(const nlohmann::ordered_json& object) {
  if (format_ == OutputFormat::kYaml) {
    terminal_.out << "---\n" << ToYaml(object);
  } else {
    terminal_.out << object.dump() << "\n";
  }
}

void Session::PrintText(absl::string_view text) { terminal_.out << TerminalText(text); }

ExitCode Session::Fail(const absl::Status& status) {
  failure_ = status.code();
  return Fail(ExitCodeFor(status), absl::StrCat(status.message(), Advice(status)));
}

ExitCode Session::Fail(ExitCode code, absl::string_view message) {
  terminal_.out.flush();
  PrintError(terminal_.err, message);
  return code;
}

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  // Fails only for a Timestamp or Duration that is out of range.
  if (!status.ok()) return nlohmann::json{{"unprintable", status.message().as_string()}}.dump();
  return json;
}

void PrintError(std::ostream& err, absl::string_view message) {
  const std::string line = absl::StrReplaceAll(message, {{"\r", " "}, {"\n", " "}});
  err << "ttlctl: " << TerminalText(line) << "\n";
}

}  // namespace ttl
