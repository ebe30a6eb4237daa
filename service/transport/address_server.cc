#include "service/transport/address_server.h"

#include <grpc/compression.h>
#include <grpc/grpc.h>
#include <grpcpp/health_check_service_interface.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/transport/calls/byte_service.h"
#include "service/transport/calls/method_table.h"
#include "service/transport/calls_of_connections.h"

namespace ttl {
namespace {

constexpr int kMaxMetadataBytes = 16 << 10;
constexpr size_t kMaxHostPortBytes = 256;
// A health check has nothing but the name of a service.
constexpr int kMaxHealthCheckBytes = 4 << 10;

// From accept to the client's SETTINGS, including the TLS handshake.
constexpr absl::Duration kHandshakeTimeout = absl::Seconds(5);

// Bytes that a client may send in addition to one message before the server sends anything: the
// flow control windows granted to it.
constexpr int64_t kUnansweredBytesBesideAMessage = 1 << 20;

// Our own pings detect half-open TCP connections.
constexpr absl::Duration kPingInterval = absl::Minutes(1);
constexpr absl::Duration kPingTimeout = absl::Seconds(20);

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

void SetLimits(grpc::ServerBuilder& builder, const ServerLimits& limits) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits.max_message_bytes));
  // gRPC would decompress a message before it checks the size. Compressed calls get UNIMPLEMENTED.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.AddChannelArgument(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET,
                             1 << GRPC_COMPRESS_NONE);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, Milliseconds(kHandshakeTimeout));
  builder.SetResourceQuota(limits.memory);
  // CallsOfConnections reads channelz.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 1);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(limits.max_streams_per_connection));
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
}

void SetKeepalive(grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             Milliseconds(AddressServer::kMinPingInterval));
  // Without this the interval is two hours while no call is in flight.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(kPingInterval));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(kPingTimeout));
}

UnseenLimits UnseenLimitsOf(const ServerLimits& limits) {
  return {.unanswered_bytes = limits.max_message_bytes + kUnansweredBytesBesideAMessage,
          // The same limit as for resets where frames can be inspected.
          .unanswered_calls_per_second =
              FrameLimits::ForCalls(limits.max_streams_per_connection).resets_per_second,
          .count_unanswered_calls =
              [calls = std::make_shared<CallsOfConnections>()](const std::string& client) {
                return calls->CountUnanswered(client);
              }};
}

// gRPC requires a queue to be drained before it is destroyed.
void Drain(grpc::ServerCompletionQueue& queue) {
  queue.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) continue;
}

bool IsSocket(const ServerAddress& address) { return !address.socket.path.empty(); }

// The address as configured.
std::string NameOf(const ServerAddress& address) {
  return IsSocket(address) ? address.socket.path : address.tcp;
}

}  // namespace

// A service registered on this address.
class AddressServer::ServedService {
 public:
  explicit ServedService(RpcService& service)
      : service_(service), endpoint_(service.descriptor()) {}

  ByteService& endpoint() { return endpoint_; }

  void AcceptCalls(CallQueue& queue, CallWorker& worker) {
    queues_.push_back(std::make_unique<MethodTable>(service_, endpoint_, queue, worker));
  }
  void EndStreams() {
    for (const auto& methods : queues_) methods->EndStreams();
  }

 private:
  RpcService& service_;
  ByteService endpoint_;
  std::vector<std::unique_ptr<MethodTable>> queues_;
};

AddressServer::AddressServer(const ServerAddress& address, const RpcServices& services)
    : address_(address),
      services_(services),
      access_({.address = NameOf(address),
               .roles = address.roles,
               .has_client_certificates = address.has_client_certificates,
               .roles_of_method = services.roles_of_method},
              services.identities, services.access_counters) {
  served_.push_back(std::make_unique<ServedService>(services.health));
  if (address.health_only) return;
  for (RpcService* service : services.services) {
    served_.push_back(std::make_unique<ServedService>(*service));
  }
}

AddressServer::~AddressServer() = default;

absl::StatusOr<std::unique_ptr<AddressServer>> AddressServer::Start(const ServerAddress& address,
                                                                    const ServerLimits& limits,
                                                                    const RpcServices& services,
                                                                    CallWorker& worker) {
  std::unique_ptr<AddressServer> server(new AddressServer(address, services));
  TTL_RETURN_IF_ERROR(server->Listen(limits));
  server->LogListening();
  server->Serve(worker);
  return server;
}

absl::Status AddressServer::Listen(const ServerLimits& limits) {
  if (IsSocket(address_)) {
    TTL_ASSIGN_OR_RETURN(socket_, UnixSocket::Claim(address_.socket));
  }
  TTL_ASSIGN_OR_RETURN(listener_,
                       ConnectionListener::Listen(
                           {.socket = socket_.get(),
                            .tcp = address_.tcp,
                            .places = limits.places,
                            .is_encrypted = address_.credentials != nullptr,
                            .frames = FrameLimits::ForCalls(limits.max_streams_per_connection),
                            .unseen = UnseenLimitsOf(limits)}));
  return Build(limits);
}

absl::Status AddressServer::Build(const ServerLimits& limits) {
  // HealthService replaces it.
  grpc::EnableDefaultHealthCheckService(false);
  grpc::ServerBuilder builder;
  SetLimits(builder, limits);
  if (address_.health_only) builder.SetMaxReceiveMessageSize(kMaxHealthCheckBytes);
  SetKeepalive(builder);
  Register(builder);
  const int64_t threads = address_.health_only ? 1 : limits.call_threads;
  for (int64_t i = 0; i < threads; ++i) unused_.push_back(builder.AddCompletionQueue());
  ConnectionAcceptor acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      address_.credentials != nullptr ? address_.credentials : grpc::InsecureServerCredentials());
  server_ = builder.BuildAndStart();
  if (server_ != nullptr) {
    HandOverConnections(std::move(acceptor));
    return absl::OkStatus();
  }
  for (const auto& queue : unused_) Drain(*queue);
  return absl::UnavailableError(absl::StrCat("cannot serve on ", NameOf(address_)));
}

void AddressServer::HandOverConnections(ConnectionAcceptor acceptor) {
  listener_->Serve([shared = std::shared_ptr(std::move(acceptor))](int connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.fd = connection;
    shared->HandleNewConnection(&parameters);
  });
}

void AddressServer::Register(grpc::ServerBuilder& builder) {
  for (const auto& served : served_) builder.RegisterService(&served->endpoint());
}

void AddressServer::Serve(CallWorker& worker) {
  for (auto& queue : unused_) {
    queues_.push_back(std::make_unique<CallQueue>(
        std::move(queue), services_.counters, access_, address_.when_idle,
        [this, &worker](CallQueue& accepting) { AcceptCalls(accepting, worker); }));
  }
  unused_.clear();
}

void AddressServer::AcceptCalls(CallQueue& queue, CallWorker& worker) {
  for (const auto& served : served_) served->AcceptCalls(queue, worker);
}

void AddressServer::EndHealthStreams() { served_.front()->EndStreams(); }

void AddressServer::EndStreams() {
  for (size_t i = 1; i < served_.size(); ++i) served_[i]->EndStreams();
}

void AddressServer::LogListening() const {
  const std::string serves = address_.health_only ? "health" : "all";
  if (IsSocket(address_)) {
    spdlog::info("listening: socket={} mode={:04o} roles={}",
                 Quoted(address_.socket.path, kMaxSocketPathBytes),
                 static_cast<unsigned>(address_.socket.mode), Describe(address_.roles));
  } else {
    spdlog::info("listening: tcp={} port={} tls={} client_certificates={} serves={} roles={}",
                 Quoted(address_.tcp, kMaxHostPortBytes), listener_->port(),
                 address_.credentials != nullptr, address_.has_client_certificates, serves,
                 Describe(address_.roles));
  }
}

void AddressServer::Settle() {
  access_.Close();
  for (const auto& queue : queues_) queue->AwaitWork();
}

// gRPC 1.51 does not close connections handed to it during shutdown, contrary to its header.
void AddressServer::Shutdown(absl::Time deadline) {
  listener_->StopListening();
  for (const auto& queue : queues_) queue->AwaitSending(deadline);
  listener_->Close(deadline);
  server_->Shutdown(absl::ToChronoTime(deadline));
}

}  // namespace ttl
