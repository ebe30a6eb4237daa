#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_STORE_SERVER_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_STORE_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/examples/document_store/document_engine.h"
#include "client/examples/document_store/primary_store.h"
#include "client/examples/document_store/request_prices.h"
#include "grpcpp/server.h"
#include "ttl/store_socket.h"

namespace documentstore {

// Serves an engine and a primary store over gRPC until it is destroyed. The destructor gives calls
// in progress a second to end. Thread-safe.
class DocumentStoreServer {
 public:
  // Listens on `address`, "unix:/path" or "host:port". A socket left by a killed server is
  // replaced; FAILED_PRECONDITION if a server answers on it. `engine` and `primary_store` must
  // outlive the server. `usage` is called for every call of DocumentService except
  // CountStoredDocuments.
  static absl::StatusOr<std::unique_ptr<DocumentStoreServer>> Start(const std::string& address,
                                                                    DocumentEngine& engine,
                                                                    PrimaryStore& primary_store,
                                                                    UsageSink usage);
  ~DocumentStoreServer();

  DocumentStoreServer(const DocumentStoreServer&) = delete;
  DocumentStoreServer& operator=(const DocumentStoreServer&) = delete;

 private:
  DocumentStoreServer() = default;

  std::unique_ptr<ttl::StoreSocket> socket_;  // outlives the server
  std::unique_ptr<grpc::Service> document_service_;
  std::unique_ptr<grpc::Service> primary_store_service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_DOCUMENT_STORE_SERVER_H_
