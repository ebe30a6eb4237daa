#include "deploy/quickstart/demo_client.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpcpp/grpcpp.h"
#include "ttl/container_client.h"
#include "ttl/operator_client.h"
#include "ttl/proto_time.h"

namespace ttl::quickstart {
namespace {

constexpr std::chrono::seconds kCallDeadline{20};
constexpr int kBatchDocuments = 1000;

using documentstore::v1::DocumentService;

[[noreturn]] void Fail(absl::string_view call, absl::string_view message) {
  std::cerr << "error: " << call << ": " << message << std::endl;
  std::exit(1);
}

template <typename T>
T ValueOf(absl::string_view call, absl::StatusOr<T> result) {
  if (!result.ok())
    Fail(call, result.status().ToString(absl::StatusToStringMode::kWithNoExtraData));
  return *std::move(result);
}

// Makes one call of the document store. Returns false on NOT_FOUND.
template <typename Request, typename Response>
bool CallFinds(DocumentService::Stub& stub,
               grpc::Status (DocumentService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
               const Request& request, Response& response) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (!status.ok() && status.error_code() != grpc::StatusCode::NOT_FOUND) {
    Fail(Request::descriptor()->name(), status.error_message());
  }
  return status.ok();
}

// The same where NOT_FOUND is an error too.
template <typename Request, typename Response>
Response Call(DocumentService::Stub& stub,
              grpc::Status (DocumentService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                            Response*),
              const Request& request) {
  Response response;
  if (!CallFinds(stub, method, request, response)) {
    Fail(Request::descriptor()->name(), "not found");
  }
  return response;
}

// The instant a query page was judged at; a page on which nothing lay had
// nothing to judge, so any instant of the call stands for it.
absl::Time JudgedAt(const documentstore::v1::QueryDocumentsResponse& page, absl::Time otherwise) {
  return page.has_judged_at() ? ToTime(page.judged_at()) : otherwise;
}

TtlClientOptions OptionsFor(const std::string& sidecar_address) {
  TtlClientOptions options;
  options.address = sidecar_address;
  return options;
}

}  // namespace

DemoClient::DemoClient(const std::string& store_address, const std::string& sidecar_address)
    : documents_(DocumentService::NewStub(
          grpc::CreateChannel(store_address, grpc::InsecureChannelCredentials()))),
      sidecar_(OptionsFor(sidecar_address)) {}

void DemoClient::CreateContainer(const v1::Container& container) {
  ValueOf("CreateContainer", sidecar_.containers().Create(container));
}

documentstore::v1::Document DemoClient::Put(const std::string& container, const std::string& id,
                                            std::optional<int64_t> ttl) {
  documentstore::v1::PutDocumentsRequest request;
  request.set_container(container);
  documentstore::v1::Document* document = request.add_documents();
  document->set_id(id);
  document->set_body(absl::StrCat("body of ", id));
  if (ttl.has_value()) document->set_ttl(*ttl);
  return Call(*documents_, &DocumentService::Stub::PutDocuments, request).documents(0);
}

int64_t DemoClient::PutMany(const std::string& container, const std::string& prefix, int count) {
  int64_t latest_ts = 0;
  for (int first = 0; first < count; first += kBatchDocuments) {
    documentstore::v1::PutDocumentsRequest request;
    request.set_container(container);
    for (int i = first; i < std::min(count, first + kBatchDocuments); ++i) {
      documentstore::v1::Document* document = request.add_documents();
      document->set_id(absl::StrCat(prefix, i));
      document->set_body("{}");
    }
    const auto response = Call(*documents_, &DocumentService::Stub::PutDocuments, request);
    for (const auto& written : response.documents()) {
      latest_ts = std::max(latest_ts, written.ts());
    }
  }
  return latest_ts;
}

documentstore::v1::Document DemoClient::Touch(const std::string& container, const std::string& id) {
  documentstore::v1::TouchDocumentRequest request;
  request.set_container(container);
  request.set_id(id);
  return Call(*documents_, &DocumentService::Stub::TouchDocument, request).document();
}

Sighting DemoClient::Get(const std::string& container, const std::string& id) {
  documentstore::v1::GetDocumentRequest request;
  request.set_container(container);
  request.set_id(id);
  documentstore::v1::GetDocumentResponse response;
  const absl::Time before = absl::Now();
  if (!CallFinds(*documents_, &DocumentService::Stub::GetDocument, request, response)) {
    return {false, before, absl::Now()};
  }
  const absl::Time judged_at = ToTime(response.judged_at());
  return {true, judged_at, judged_at};
}

Listing DemoClient::Query(const std::string& container) {
  documentstore::v1::QueryDocumentsRequest request;
  request.set_container(container);
  request.set_page_size(kBatchDocuments);
  request.set_omit_bodies(true);
  Listing listing{{}, absl::InfiniteFuture(), absl::InfinitePast()};
  do {
    const absl::Time before = absl::Now();
    const auto page = Call(*documents_, &DocumentService::Stub::QueryDocuments, request);
    listing.earliest = std::min(listing.earliest, JudgedAt(page, before));
    listing.latest = std::max(listing.latest, JudgedAt(page, absl::Now()));
    for (const auto& document : page.documents()) listing.ids.insert(document.id());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return listing;
}

documentstore::v1::CountStoredDocumentsResponse DemoClient::CountStored(
    const std::string& container) {
  documentstore::v1::CountStoredDocumentsRequest request;
  request.set_container(container);
  return Call(*documents_, &DocumentService::Stub::CountStoredDocuments, request);
}

std::vector<v1::ContainerExpiryStatus> DemoClient::ExpiryStatuses() {
  const auto response = ValueOf("ListExpiryStatuses", sidecar_.operations().ListExpiryStatuses());
  return {response.containers().begin(), response.containers().end()};
}

}  // namespace ttl::quickstart
