#include "tests/testing/fake_document_store.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "absl/time/time.h"
#include "documentstore/v1/document_service.grpc.pb.h"
#include "service/base/mutex.h"

namespace ttl {
namespace {

using documentstore::v1::Document;

// Container, partition key, id.
using Key = std::tuple<std::string, std::string, std::string>;

// A misdeed or failure happens at every so-manieth opportunity.
constexpr int kFaultInterval = 20;

absl::Time WallNow() { return absl::FromChrono(std::chrono::system_clock::now()); }

google::protobuf::Timestamp ToTimestamp(absl::Time time) {
  google::protobuf::Timestamp timestamp;
  timestamp.set_seconds(absl::ToUnixSeconds(time));
  timestamp.set_nanos(static_cast<int32_t>(
      absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(timestamp.seconds()))));
  return timestamp;
}

Document WithoutBody(Document document) {
  document.clear_body();
  return document;
}

grpc::Status NotFound() { return {grpc::StatusCode::NOT_FOUND, "no such document"}; }

}  // namespace

class FakeDocumentStore::Service final : public documentstore::v1::DocumentService::Service {
 public:
  Service(StoreFault fault, std::map<std::string, int64_t> default_ttls)
      : fault_(fault), default_ttls_(std::move(default_ttls)) {}

  grpc::Status CreateDocument(grpc::ServerContext*,
                              const documentstore::v1::CreateDocumentRequest* request,
                              documentstore::v1::CreateDocumentResponse* response) override {
    const MutexLock lock(mutex_);
    const Key key = KeyOf(request->container(), request->document());
    if (Find(key, WallNow()) != nullptr) return {grpc::StatusCode::ALREADY_EXISTS, "exists"};
    return Write(key, request->document(), response->mutable_document());
  }

  grpc::Status PutDocuments(grpc::ServerContext*,
                            const documentstore::v1::PutDocumentsRequest* request,
                            documentstore::v1::PutDocumentsResponse* response) override {
    const MutexLock lock(mutex_);
    grpc::Status status;
    for (const Document& document : request->documents()) {
      const Key key = KeyOf(request->container(), document);
      const grpc::Status written = Write(key, document, response->add_documents());
      if (!written.ok()) status = written;
    }
    return status;
  }

  grpc::Status ReplaceDocument(grpc::ServerContext*,
                               const documentstore::v1::ReplaceDocumentRequest* request,
                               documentstore::v1::ReplaceDocumentResponse* response) override {
    const MutexLock lock(mutex_);
    const Key key = KeyOf(request->container(), request->document());
    const Document* present = Find(key, WallNow());
    if (present == nullptr) return NotFound();
    if (!request->if_match().empty() && request->if_match() != present->etag()) {
      return {grpc::StatusCode::ABORTED, "another etag"};
    }
    return Write(key, request->document(), response->mutable_document());
  }

  grpc::Status TouchDocument(grpc::ServerContext*,
                             const documentstore::v1::TouchDocumentRequest* request,
                             documentstore::v1::TouchDocumentResponse* response) override {
    const MutexLock lock(mutex_);
    const Key key{request->container(), request->partition_key(), request->id()};
    const Document* present = Find(key, WallNow());
    if (present == nullptr) return NotFound();
    return Write(key, Document(*present), response->mutable_document());
  }

  grpc::Status GetDocument(grpc::ServerContext*,
                           const documentstore::v1::GetDocumentRequest* request,
                           documentstore::v1::GetDocumentResponse* response) override {
    const MutexLock lock(mutex_);
    if (fault_ == StoreFault::kFailsSometimes && IsTheMoment()) return Unavailable();
    const absl::Time now = WallNow();
    const Document* present =
        Find({request->container(), request->partition_key(), request->id()}, now);
    if (present == nullptr) return NotFound();
    *response->mutable_document() = *present;
    if (fault_ == StoreFault::kMixesUpBodies && IsTheMoment()) {
      response->mutable_document()->set_body("another body");
    }
    *response->mutable_judged_at() = ToTimestamp(now);
    return grpc::Status::OK;
  }

  grpc::Status QueryDocuments(grpc::ServerContext*,
                              const documentstore::v1::QueryDocumentsRequest* request,
                              documentstore::v1::QueryDocumentsResponse* response) override {
    const MutexLock lock(mutex_);
    const absl::Time now = WallNow();
    for (const auto& [key, document] : documents_) {
      const auto& [container, partition_key, id] = key;
      if (container != request->container() || !IsVisible(container, document, now)) continue;
      if (request->has_partition_key() && partition_key != request->partition_key()) continue;
      *response->add_documents() = request->omit_bodies() ? WithoutBody(document) : document;
    }
    *response->mutable_judged_at() = ToTimestamp(now);
    return grpc::Status::OK;
  }

  grpc::Status DeleteDocument(grpc::ServerContext*,
                              const documentstore::v1::DeleteDocumentRequest* request,
                              documentstore::v1::DeleteDocumentResponse*) override {
    const MutexLock lock(mutex_);
    const Key key{request->container(), request->partition_key(), request->id()};
    if (fault_ == StoreFault::kFailsSometimes && IsTheMoment()) return Unavailable();
    if (Find(key, WallNow()) == nullptr) return NotFound();
    documents_.erase(key);
    return fault_ == StoreFault::kFailsSometimes && IsTheMoment() ? Unavailable()
                                                                  : grpc::Status::OK;
  }

  grpc::Status CountStoredDocuments(
      grpc::ServerContext*, const documentstore::v1::CountStoredDocumentsRequest* request,
      documentstore::v1::CountStoredDocumentsResponse* response) override {
    const MutexLock lock(mutex_);
    const absl::Time now = WallNow();
    for (const auto& [key, document] : documents_) {
      const std::string& container = std::get<0>(key);
      const bool stored =
          fault_ == StoreFault::kKeepsGarbage || IsVisible(container, document, now);
      response->set_stored(response->stored() + (container == request->container() && stored));
    }
    return grpc::Status::OK;
  }

 private:
  static Key KeyOf(const std::string& container, const Document& document) {
    return {container, document.partition_key(), document.id()};
  }

  static grpc::Status Unavailable() { return {grpc::StatusCode::UNAVAILABLE, "told to fail"}; }

  bool IsTheMoment() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ++opportunities_ % kFaultInterval == 0;
  }

  grpc::Status Write(const Key& key, Document document, Document* answered)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (fault_ == StoreFault::kFailsSometimes && IsTheMoment()) return Unavailable();
    document.set_ts(absl::ToUnixSeconds(WallNow()));
    document.set_etag(std::to_string(++writes_));
    *answered = WithoutBody(document);
    if (fault_ == StoreFault::kLosesWrites && IsTheMoment()) return grpc::Status::OK;
    documents_[key] = std::move(document);
    return fault_ == StoreFault::kFailsSometimes && IsTheMoment() ? Unavailable()
                                                                  : grpc::Status::OK;
  }

  const Document* Find(const Key& key, absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = documents_.find(key);
    if (found == documents_.end()) return nullptr;
    return IsVisible(std::get<0>(key), found->second, now) ? &found->second : nullptr;
  }

  bool IsVisible(const std::string& container, const Document& document, absl::Time now) const {
    const auto default_ttl = default_ttls_.find(container);
    const int64_t default_seconds = default_ttl == default_ttls_.end() ? -1 : default_ttl->second;
    const int64_t seconds = document.has_ttl() ? document.ttl() : default_seconds;
    if (seconds == -1) return true;
    absl::Time expire_time = absl::FromUnixSeconds(document.ts() + seconds);
    if (fault_ == StoreFault::kShowsExpired) expire_time += absl::Seconds(1);
    if (fault_ == StoreFault::kHidesLive) expire_time -= absl::Seconds(1);
    return now < expire_time;
  }

  const StoreFault fault_;
  const std::map<std::string, int64_t> default_ttls_;
  Mutex mutex_;
  std::map<Key, Document> documents_ ABSL_GUARDED_BY(mutex_);
  int64_t writes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t opportunities_ ABSL_GUARDED_BY(mutex_) = 0;
};

FakeDocumentStore::FakeDocumentStore(const std::string& socket_path, StoreFault fault,
                                     std::map<std::string, int64_t> default_ttls)
    : service_(std::make_unique<Service>(fault, std::move(default_ttls))) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket_path, grpc::InsecureServerCredentials());
  builder.RegisterService(service_.get());
  server_ = builder.BuildAndStart();
  if (server_ != nullptr) return;
  std::fprintf(stderr, "cannot listen on %s\n", socket_path.c_str());
  std::abort();
}

FakeDocumentStore::~FakeDocumentStore() {
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
}

}  // namespace ttl
