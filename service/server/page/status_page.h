#ifndef TTL_SERVICE_SERVER_PAGE_STATUS_PAGE_H_
#define TTL_SERVICE_SERVER_PAGE_STATUS_PAGE_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/server/http/http_answer.h"
#include "service/server/http/http_request.h"
#include "service/server/page/page_document.h"
#include "ttl/v1/expiry_service.pb.h"
#include "ttl/v1/hold_service.pb.h"
#include "ttl/v1/maintenance_service.pb.h"

namespace ttl {

// The status page: a document for browsers, and the calls that it makes, answered in protobuf's
// JSON with the field names of the protos, as ttlctl prints it. Read-only. status_page.md lists the
// paths. Used by one thread.
class StatusPage {
 public:
  // Statuses up to this old are sent again, so that many pages cost no more than one.
  static constexpr absl::Duration kMaxAge = absl::Milliseconds(250);

  template <typename Request, typename Response>
  using Call = std::function<absl::Status(const Request&, Response&)>;

  // The calls of the API, which are made on the thread of Answer().
  struct Calls {
    Call<v1::GetExpiryStatusRequest, v1::GetExpiryStatusResponse> get;
    Call<v1::ListExpiryStatusesRequest, v1::ListExpiryStatusesResponse> list;
    Call<v1::ListStuckItemsRequest, v1::ListStuckItemsResponse> stuck;
    Call<v1::ExplainItemRequest, v1::ExplainItemResponse> explain;
    Call<v1::GetForecastRequest, v1::GetForecastResponse> forecast;
    Call<v1::GetReconciliationRequest, v1::GetReconciliationResponse> reconciliation;
    Call<v1::ListHoldsRequest, v1::ListHoldsResponse> holds;
  };

  // What TLS says of a connection.
  struct TlsPeer {
    // Whether the certificate that the sidecar presented is for a host.
    std::function<bool(absl::string_view host)> is_for;
    // OK if the client's certificate may read the page; otherwise PERMISSION_DENIED, with the
    // reason.
    std::function<absl::Status()> may_read;
  };

  // The hosts by which clients may call the page. A browser also sends what pages of others ask for
  // by a name that leads to this machine. kOfCertificate: those of the certificate that the sidecar
  // presented, and only over TLS, where clients need the right to read.
  enum class Hosts { kLoopback, kAny, kOfCertificate };

  StatusPage(Calls calls, Hosts hosts);

  // Answers what a client has sent so far; absent: the request is not complete yet. `peer` is null
  // in plain text.
  std::optional<HttpAnswer> Answer(absl::string_view received, const TlsPeer* peer = nullptr);

 private:
  using Fields = std::map<std::string, std::string>;
  using Text = std::shared_ptr<const std::string>;

  HttpAnswer AnswerRequest(const HttpRequest& request, const TlsPeer* peer);
  // Absent if the request is for a host of the page, by a client that may read it.
  std::optional<HttpAnswer> RefuseHost(const HttpRequest& request, const TlsPeer* peer) const;
  absl::StatusOr<Text> Json(const HttpRequest& request);
  absl::StatusOr<std::string> JsonOf(absl::string_view path, const Fields& fields) const;
  absl::StatusOr<std::string> StatusJson(const Fields& fields) const;
  absl::StatusOr<std::string> StuckJson(const Fields& fields) const;
  absl::StatusOr<std::string> HoldsJson(const Fields& fields) const;
  absl::StatusOr<std::string> ExplainJson(const Fields& fields) const;
  absl::StatusOr<std::string> ForecastJson(const Fields& fields) const;
  absl::StatusOr<std::string> ReconciliationJson() const;

  // `type` is a media type; `more` are further header lines.
  HttpAnswer Made(absl::string_view status, absl::string_view type, Text body,
                  absl::string_view more = "") const;
  HttpAnswer Refusal(absl::string_view status, absl::string_view why,
                     absl::string_view more = "") const;

  const Calls calls_;
  const Hosts hosts_;
  const PageDocument document_;
  const Text html_;

  // The last answers about statuses, by their queries; at most kMaxKept.
  struct Kept {
    Text text;
    std::chrono::steady_clock::time_point made;
  };
  static constexpr size_t kMaxKept = 8;
  std::map<std::string, Kept> kept_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_PAGE_STATUS_PAGE_H_
