#include "service/rpc/channelz_service.h"

#include <google/protobuf/util/json_util.h>
#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "service/core/status_macros.h"
#include "service/rpc/method_table.h"

namespace ttl {
namespace {

namespace channelz = grpc::channelz::v1;

// The core of gRPC means ids and sizes, and does not look whether they are.
absl::Status CheckNotNegative(absl::string_view field, int64_t value) {
  if (value >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, " is ", value, ": must not be negative"));
}

// Fills `response` with what the core of gRPC says, which is JSON, and null if there is no
// such thing.
template <typename Response>
absl::Status Fill(char* json, absl::string_view what, Response& response) {
  if (json == nullptr) return absl::NotFoundError(absl::StrCat(what, " is not known"));
  const std::unique_ptr<char, decltype(&gpr_free)> owned(json, &gpr_free);
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;  // what our proto leaves out
  const auto parsed = google::protobuf::util::JsonStringToMessage(json, &response, options);
  if (parsed.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("gRPC says what it cannot mean: ", parsed.ToString()));
}

}  // namespace

void ChannelzService::AcceptCalls(Endpoint& endpoint, CallQueue& queue, CallWorker& worker) {
  QueuedMethods& methods = *queues_.emplace_back(std::make_unique<QueuedMethods>(queue));
  MethodTable table(endpoint, *this, worker, methods);
  table.Add(&Endpoint::RequestGetTopChannels, &ChannelzService::GetTopChannels);
  table.Add(&Endpoint::RequestGetServers, &ChannelzService::GetServers);
  table.Add(&Endpoint::RequestGetServer, &ChannelzService::GetServer);
  table.Add(&Endpoint::RequestGetServerSockets, &ChannelzService::GetServerSockets);
  table.Add(&Endpoint::RequestGetChannel, &ChannelzService::GetChannel);
  table.Add(&Endpoint::RequestGetSubchannel, &ChannelzService::GetSubchannel);
  table.Add(&Endpoint::RequestGetSocket, &ChannelzService::GetSocket);
}

absl::Status ChannelzService::GetTopChannels(const channelz::GetTopChannelsRequest& request,
                                             channelz::GetTopChannelsResponse& response) const {
  TTL_RETURN_IF_ERROR(CheckNotNegative("start_channel_id", request.start_channel_id()));
  return Fill(grpc_channelz_get_top_channels(request.start_channel_id()), "start_channel_id",
              response);
}

absl::Status ChannelzService::GetServers(const channelz::GetServersRequest& request,
                                         channelz::GetServersResponse& response) const {
  TTL_RETURN_IF_ERROR(CheckNotNegative("start_server_id", request.start_server_id()));
  return Fill(grpc_channelz_get_servers(request.start_server_id()), "start_server_id", response);
}

absl::Status ChannelzService::GetServer(const channelz::GetServerRequest& request,
                                        channelz::GetServerResponse& response) const {
  TTL_RETURN_IF_ERROR(CheckNotNegative("server_id", request.server_id()));
  return Fill(grpc_channelz_get_server(request.server_id()), "server_id", response);
}

absl::Status ChannelzService::GetServerSockets(const channelz::GetServerSocketsRequest& request,
                                               channelz::GetServerSocketsResponse& response) const {
  TTL_RETURN_IF_ERROR(CheckNotNegative("server_id", request.server_id()));
  TTL_RETURN_IF_ERROR(CheckNotNegative("start_socket_id", request.start_socket_id()));
  TTL_RETURN_IF_ERROR(CheckNotNegative("max_results", request.max_results()));
  return Fill(grpc_channelz_get_server_sockets(request.server_id(), request.start_socket_id(),
                                               request.max_results()),
              "server_id", response);
}

absl::Status ChannelzService::GetChannel(const channelz::GetChannelRequest& request,
                                         channelz::GetChannelResponse& response) const {
  TTL_RETURN_IF_ERROR(CheckNotNegative("channel_id", request.channel_id()));
  return Fill(grpc_channelz_get_channel(request.channel_id()), "channel_id", response);
}

absl::Status ChannelzService::GetSubchannel(const channelz::GetSubchannelRequest& request,
                                            channelz::GetSubchannelResponse& response) const {
  TTL_RETURN_IF_ERROR(CheckNotNegative("subchannel_id", request.subchannel_id()));
  return Fill(grpc_channelz_get_subchannel(request.subchannel_id()), "subchannel_id", response);
}

absl::Status ChannelzService::GetSocket(const channelz::GetSocketRequest& request,
                                        channelz::GetSocketResponse& response) const {
  TTL_RETURN_IF_ERROR(CheckNotNegative("socket_id", request.socket_id()));
  return Fill(grpc_channelz_get_socket(request.socket_id()), "socket_id", response);
}

}  // namespace ttl
