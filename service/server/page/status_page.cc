#include "service/server/page/status_page.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"

namespace ttl {
namespace {

constexpr char kStatusPath[] = "/status.json";
constexpr char kStuckPath[] = "/stuck.json";
constexpr char kHoldsPath[] = "/holds.json";
constexpr char kExplainPath[] = "/explain.json";
constexpr char kForecastPath[] = "/forecast.json";
constexpr char kReconciliationPath[] = "/reconciliation.json";

// A quarter of a MiB, which a slow link carries within HttpServer::kPatience.
constexpr int kContainersPerPage = 250;
constexpr int kStuckItems = 20;
constexpr int kShownHolds = 20;
constexpr int64_t kMaxForecastSeconds = std::numeric_limits<int32_t>::max();

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) return absl::InternalError(status.message().as_string());
  return json;
}

// `request` answered by `call`, as JSON.
template <typename Response, typename Request>
absl::StatusOr<std::string> Called(const StatusPage::Call<Request, Response>& call,
                                   const Request& request) {
  Response response;
  TTL_RETURN_IF_ERROR(call(request, response));
  return ToJson(response);
}

std::string ValueOf(const std::map<std::string, std::string>& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

// Refuses fields that are not among `known`, and the lack of one of `required`.
absl::Status CheckFields(const std::map<std::string, std::string>& fields,
                         std::initializer_list<absl::string_view> required,
                         std::initializer_list<absl::string_view> known) {
  for (const absl::string_view name : required) {
    if (!ValueOf(fields, std::string(name)).empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(name, " is not given"));
  }
  for (const auto& [name, value] : fields) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the field ", Quoted(name), " is not known: give ",
                     known.size() == 0 ? "none" : "", absl::StrJoin(known, ", ")));
  }
  return absl::OkStatus();
}

// The field `name`, a number of seconds; absent if it is not given.
absl::StatusOr<std::optional<int64_t>> ReadSeconds(const std::map<std::string, std::string>& fields,
                                                   const std::string& name) {
  if (!fields.contains(name)) return std::nullopt;
  const std::string text = ValueOf(fields, name);
  int64_t seconds;
  if (std::all_of(text.begin(), text.end(), absl::ascii_isdigit) &&
      absl::SimpleAtoi(text, &seconds) && seconds >= 1 && seconds <= kMaxForecastSeconds) {
    return seconds;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      name, " is ", Quoted(text), ": must be a whole number from 1 to ", kMaxForecastSeconds));
}

absl::string_view HttpStatus(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return "400 Bad Request";
    case absl::StatusCode::kPermissionDenied:
      return "403 Forbidden";
    case absl::StatusCode::kNotFound:
      return "404 Not Found";
    case absl::StatusCode::kResourceExhausted:
      return "431 Request Header Fields Too Large";
    case absl::StatusCode::kUnavailable:
      return "503 Service Unavailable";
    default:
      return "500 Internal Server Error";
  }
}

// Whether a browser says that a page of somebody else asks for data.
bool IsFromElsewhere(const HttpRequest& request) {
  const absl::string_view site = request.Header("sec-fetch-site");
  return request.path != "/" && !site.empty() && site != "same-origin" && site != "none";
}

}  // namespace

StatusPage::StatusPage(Calls calls, Hosts hosts)
    : calls_(std::move(calls)),
      hosts_(hosts),
      document_(MakePageDocument()),
      html_(std::make_shared<const std::string>(document_.html)) {}

std::optional<HttpAnswer> StatusPage::Answer(absl::string_view received, const TlsPeer* peer) {
  const absl::StatusOr<std::optional<HttpRequest>> request = ReadHttpRequest(received);
  if (request.ok() && !request->has_value()) return std::nullopt;
  HttpAnswer answer = request.ok()
                          ? AnswerRequest(**request, peer)
                          : Refusal(HttpStatus(request.status()), request.status().message());
  // Also if the request is refused before its method is read.
  if (absl::StartsWith(received, "HEAD ")) answer.body.reset();
  return answer;
}

std::optional<HttpAnswer> StatusPage::RefuseHost(const HttpRequest& request,
                                                 const TlsPeer* peer) const {
  const absl::string_view host = request.Header("host");
  const bool is_right =
      hosts_ == Hosts::kAny || (hosts_ == Hosts::kLoopback && IsLoopbackAuthority(host)) ||
      (hosts_ == Hosts::kOfCertificate && peer != nullptr && peer->is_for(HostOfAuthority(host)));
  if (is_right) return std::nullopt;
  return Refusal("421 Misdirected Request",
                 absl::StrCat("the header Host is ", Quoted(host), ": must be ",
                              hosts_ == Hosts::kLoopback ? "127.0.0.1, [::1] or localhost"
                                                         : "a name in the sidecar's certificate",
                              ", with any port"));
}

HttpAnswer StatusPage::AnswerRequest(const HttpRequest& request, const TlsPeer* peer) {
  if (std::optional<HttpAnswer> refusal = RefuseHost(request, peer)) return *std::move(refusal);
  if (hosts_ == Hosts::kOfCertificate) {
    const absl::Status admitted = peer->may_read();
    if (!admitted.ok()) return Refusal(HttpStatus(admitted), admitted.message());
  }
  if (request.method != "GET" && request.method != "HEAD") {
    return Refusal("405 Method Not Allowed", "only GET and HEAD", "Allow: GET, HEAD\r\n");
  }
  if (IsFromElsewhere(request)) {
    return Refusal("403 Forbidden", "the data is for this server's own page only");
  }
  if (request.path == "/") return Made("200 OK", "text/html; charset=utf-8", html_);
  absl::StatusOr<Text> json = Json(request);
  if (!json.ok()) return Refusal(HttpStatus(json.status()), json.status().message());
  return Made("200 OK", "application/json", *std::move(json));
}

absl::StatusOr<StatusPage::Text> StatusPage::Json(const HttpRequest& request) {
  const auto now = std::chrono::steady_clock::now();
  const bool is_status = request.path == kStatusPath;
  const auto kept = is_status ? kept_.find(request.query) : kept_.end();
  if (kept != kept_.end() && now - kept->second.made < absl::ToChronoNanoseconds(kMaxAge)) {
    return kept->second.text;
  }
  TTL_ASSIGN_OR_RETURN(const Fields fields, ReadHttpQuery(request.query));
  TTL_ASSIGN_OR_RETURN(std::string json, JsonOf(request.path, fields));
  Text text = std::make_shared<const std::string>(std::move(json));
  if (!is_status) return text;
  if (kept_.size() >= kMaxKept && !kept_.contains(request.query)) {
    kept_.erase(std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
      return a.second.made < b.second.made;
    }));
  }
  kept_[request.query] = {text, now};
  return text;
}

absl::StatusOr<std::string> StatusPage::JsonOf(absl::string_view path, const Fields& fields) const {
  if (path == kStatusPath) return StatusJson(fields);
  if (path == kStuckPath) return StuckJson(fields);
  if (path == kHoldsPath) return HoldsJson(fields);
  if (path == kExplainPath) return ExplainJson(fields);
  if (path == kForecastPath) return ForecastJson(fields);
  if (path == kReconciliationPath) {
    TTL_RETURN_IF_ERROR(CheckFields(fields, {}, {}));
    return ReconciliationJson();
  }
  return absl::NotFoundError(absl::StrCat("only /, ", kStatusPath, ", ", kStuckPath, ", ",
                                          kHoldsPath, ", ", kExplainPath, ", ", kForecastPath,
                                          " and ", kReconciliationPath, " are here"));
}

absl::StatusOr<std::string> StatusPage::StatusJson(const Fields& fields) const {
  TTL_RETURN_IF_ERROR(CheckFields(fields, {}, {"container", "page_token"}));
  if (fields.contains("container")) {
    TTL_RETURN_IF_ERROR(CheckFields(fields, {"container"}, {"container"}));
    v1::GetExpiryStatusRequest request;
    request.set_container(ValueOf(fields, "container"));
    return Called(calls_.get, request);
  }
  v1::ListExpiryStatusesRequest request;
  request.set_page_size(kContainersPerPage);
  request.set_page_token(ValueOf(fields, "page_token"));
  return Called(calls_.list, request);
}

absl::StatusOr<std::string> StatusPage::StuckJson(const Fields& fields) const {
  TTL_RETURN_IF_ERROR(CheckFields(fields, {"container"}, {"container"}));
  v1::ListStuckItemsRequest request;
  request.set_container(ValueOf(fields, "container"));
  request.set_page_size(kStuckItems);
  return Called(calls_.stuck, request);
}

absl::StatusOr<std::string> StatusPage::HoldsJson(const Fields& fields) const {
  TTL_RETURN_IF_ERROR(CheckFields(fields, {"container"}, {"container"}));
  v1::ListHoldsRequest request;
  request.set_container(ValueOf(fields, "container"));
  request.set_page_size(kShownHolds);
  return Called(calls_.holds, request);
}

absl::StatusOr<std::string> StatusPage::ExplainJson(const Fields& fields) const {
  TTL_RETURN_IF_ERROR(
      CheckFields(fields, {"container", "id"}, {"container", "partition_key", "id"}));
  v1::ExplainItemRequest request;
  request.set_container(ValueOf(fields, "container"));
  request.set_partition_key(ValueOf(fields, "partition_key"));
  request.set_id(ValueOf(fields, "id"));
  return Called(calls_.explain, request);
}

absl::StatusOr<std::string> StatusPage::ForecastJson(const Fields& fields) const {
  TTL_RETURN_IF_ERROR(CheckFields(fields, {"container"}, {"container", "seconds", "step"}));
  TTL_ASSIGN_OR_RETURN(const std::optional<int64_t> length, ReadSeconds(fields, "seconds"));
  TTL_ASSIGN_OR_RETURN(const std::optional<int64_t> step, ReadSeconds(fields, "step"));
  v1::GetForecastRequest request;
  request.set_container(ValueOf(fields, "container"));
  if (step.has_value()) request.mutable_step()->set_seconds(*step);
  if (length.has_value()) {
    // The end is by the sidecar's clock, not by that of this machine.
    v1::GetExpiryStatusResponse status;
    TTL_RETURN_IF_ERROR(calls_.get({}, status));
    request.mutable_until()->set_seconds(status.sidecar().clock().now().seconds() + *length);
  }
  return Called(calls_.forecast, request);
}

absl::StatusOr<std::string> StatusPage::ReconciliationJson() const {
  v1::GetReconciliationResponse response;
  const absl::Status status = calls_.reconciliation({}, response);
  // None has run yet, which a page that asks every few seconds does not take for a failure.
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  return ToJson(response);
}

HttpAnswer StatusPage::Made(absl::string_view status, absl::string_view type, Text body,
                            absl::string_view more) const {
  return {.head = absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: ", type,
                               "\r\nContent-Length: ", body->size(),
                               "\r\nCache-Control: no-store\r\nContent-Security-Policy: ",
                               document_.content_security_policy,
                               "\r\nX-Content-Type-Options: nosniff\r\n"
                               "Referrer-Policy: no-referrer\r\n"
                               "Cross-Origin-Resource-Policy: same-origin\r\n"
                               "Cross-Origin-Opener-Policy: same-origin\r\n",
                               more, "Connection: close\r\n\r\n"),
          .body = std::move(body)};
}

HttpAnswer StatusPage::Refusal(absl::string_view status, absl::string_view why,
                               absl::string_view more) const {
  return Made(status, "text/plain; charset=utf-8",
              std::make_shared<const std::string>(absl::StrCat(why, "\n")), more);
}

}  // namespace ttl
