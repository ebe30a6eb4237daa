#include "client/examples/document_store/document_store_server.h"

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "documentstore/v1/document_service.grpc.pb.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/server_builder.h"
#include "ttl/store_service.h"

namespace documentstore {
namespace {

constexpr int kMaxThreads = 512;
constexpr int kMaxMessageBytes = 64 << 20;  // a thousand documents in one call

template <typename Response>
grpc::Status Answer(absl::StatusOr<Response> result, Response* response) {
  if (result.ok()) {
    *response = *std::move(result);
    return grpc::Status::OK;
  }
  const absl::Status& status = result.status();
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

class DocumentServiceImpl final : public v1::DocumentService::Service {
 public:
  DocumentServiceImpl(DocumentEngine& engine, UsageSink usage)
      : engine_(engine), usage_(std::move(usage)) {}

  grpc::Status CreateDocument(grpc::ServerContext*, const v1::CreateDocumentRequest* request,
                              v1::CreateDocumentResponse* response) override {
    usage_(request->container(), kWriteUnits);
    return Answer(engine_.Create(*request), response);
  }
  grpc::Status PutDocuments(grpc::ServerContext*, const v1::PutDocumentsRequest* request,
                            v1::PutDocumentsResponse* response) override {
    usage_(request->container(), kWriteUnits * request->documents_size());
    return Answer(engine_.Put(*request), response);
  }
  grpc::Status ReplaceDocument(grpc::ServerContext*, const v1::ReplaceDocumentRequest* request,
                               v1::ReplaceDocumentResponse* response) override {
    usage_(request->container(), kWriteUnits);
    return Answer(engine_.Replace(*request), response);
  }
  grpc::Status TouchDocument(grpc::ServerContext*, const v1::TouchDocumentRequest* request,
                             v1::TouchDocumentResponse* response) override {
    usage_(request->container(), kWriteUnits);
    return Answer(engine_.Touch(*request), response);
  }
  grpc::Status SetDocumentTtl(grpc::ServerContext*, const v1::SetDocumentTtlRequest* request,
                              v1::SetDocumentTtlResponse* response) override {
    usage_(request->container(), kWriteUnits);
    return Answer(engine_.SetTtl(*request), response);
  }
  grpc::Status GetDocument(grpc::ServerContext*, const v1::GetDocumentRequest* request,
                           v1::GetDocumentResponse* response) override {
    usage_(request->container(), kReadUnits);
    return Answer(engine_.Get(*request), response);
  }
  grpc::Status QueryDocuments(grpc::ServerContext*, const v1::QueryDocumentsRequest* request,
                              v1::QueryDocumentsResponse* response) override {
    usage_(request->container(), kReadUnits);
    return Answer(engine_.Query(*request), response);
  }
  grpc::Status DeleteDocument(grpc::ServerContext*, const v1::DeleteDocumentRequest* request,
                              v1::DeleteDocumentResponse* response) override {
    usage_(request->container(), kWriteUnits);
    return Answer(engine_.Delete(*request), response);
  }
  grpc::Status CountStoredDocuments(grpc::ServerContext*,
                                    const v1::CountStoredDocumentsRequest* request,
                                    v1::CountStoredDocumentsResponse* response) override {
    return Answer(engine_.Count(*request), response);
  }

 private:
  DocumentEngine& engine_;
  const UsageSink usage_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DocumentStoreServer>> DocumentStoreServer::Start(
    const std::string& address, DocumentEngine& engine, PrimaryStore& primary_store,
    UsageSink usage) {
  std::unique_ptr<DocumentStoreServer> server(new DocumentStoreServer());
  auto socket = ttl::StoreSocket::Claim(address);
  if (!socket.ok()) return socket.status();
  server->socket_ = *std::move(socket);
  server->document_service_ = std::make_unique<DocumentServiceImpl>(engine, std::move(usage));
  server->primary_store_service_ = ttl::NewStoreService(primary_store);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  // gRPC would decompress a message before it checks the size. Compressed calls get UNIMPLEMENTED.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.AddChannelArgument(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET,
                             1 << GRPC_COMPRESS_NONE);
  builder.SetResourceQuota(grpc::ResourceQuota("document-store").SetMaxThreads(kMaxThreads));
  builder.RegisterService(server->document_service_.get());
  builder.RegisterService(server->primary_store_service_.get());
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr || port == 0) {
    return absl::UnavailableError(absl::StrCat("cannot listen on ", address));
  }
  return server;
}

DocumentStoreServer::~DocumentStoreServer() {
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  }
}

}  // namespace documentstore
