#include "ttl/store_server.h"

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "grpcpp/server_builder.h"
#include "ttl/store_service.h"

namespace ttl {
namespace {

// `address` with the port that was picked, if it asked for one.
std::string WithPort(absl::string_view address, int port) {
  const bool is_socket = absl::StartsWith(address, "unix");  // also unix-abstract
  if (is_socket || !absl::ConsumeSuffix(&address, ":0")) return std::string(address);
  return absl::StrCat(address, ":", port);
}

}  // namespace

absl::StatusOr<std::unique_ptr<StoreServer>> StoreServer::Start(
    PrimaryStore& store, absl::string_view address,
    std::shared_ptr<grpc::ServerCredentials> credentials) {
  std::unique_ptr<StoreServer> server(new StoreServer());
  auto socket = StoreSocket::Claim(address);
  if (!socket.ok()) return socket.status();
  server->socket_ = *std::move(socket);
  server->service_ = NewStoreService(store);
  if (credentials == nullptr) credentials = grpc::InsecureServerCredentials();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(std::string(address), std::move(credentials), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // gRPC would decompress a message before it checks the size. Compressed calls get UNIMPLEMENTED.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.AddChannelArgument(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET,
                             1 << GRPC_COMPRESS_NONE);
  builder.RegisterService(server->service_.get());
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr || port == 0) {
    return absl::UnavailableError(absl::StrCat("cannot listen on ", address));
  }
  server->address_ = WithPort(address, port);
  return server;
}

StoreServer::~StoreServer() {
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  }
}

}  // namespace ttl
