#ifndef TTL_SERVICE_RPC_CHANNELZ_SERVICE_H_
#define TTL_SERVICE_RPC_CHANNELZ_SERVICE_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "grpc/channelz/v1/channelz.grpc.pb.h"
#include "service/rpc/call_queue.h"
#include "service/rpc/call_worker.h"
#include "service/rpc/queued_method.h"

namespace ttl {

// The gRPC service of the same name: what gRPC counts of its servers, channels and
// connections anyway. In place of the one that comes with gRPC, for the reasons of
// ReflectionService. Thread-safe once it accepts calls.
class ChannelzService final {
 public:
  // What a server registers of it; each server has its own.
  using Endpoint = grpc::channelz::v1::Channelz::AsyncService;

  // Accepts calls of `endpoint` on a queue of its server, whose thread does not run yet;
  // see CallQueue. This, `endpoint` and `worker` must outlive the queue. Once per queue,
  // by one thread at a time.
  void AcceptCalls(Endpoint& endpoint, CallQueue& queue, CallWorker& worker);

 private:
  absl::Status GetTopChannels(const grpc::channelz::v1::GetTopChannelsRequest& request,
                              grpc::channelz::v1::GetTopChannelsResponse& response) const;
  absl::Status GetServers(const grpc::channelz::v1::GetServersRequest& request,
                          grpc::channelz::v1::GetServersResponse& response) const;
  absl::Status GetServer(const grpc::channelz::v1::GetServerRequest& request,
                         grpc::channelz::v1::GetServerResponse& response) const;
  absl::Status GetServerSockets(const grpc::channelz::v1::GetServerSocketsRequest& request,
                                grpc::channelz::v1::GetServerSocketsResponse& response) const;
  absl::Status GetChannel(const grpc::channelz::v1::GetChannelRequest& request,
                          grpc::channelz::v1::GetChannelResponse& response) const;
  absl::Status GetSubchannel(const grpc::channelz::v1::GetSubchannelRequest& request,
                             grpc::channelz::v1::GetSubchannelResponse& response) const;
  absl::Status GetSocket(const grpc::channelz::v1::GetSocketRequest& request,
                         grpc::channelz::v1::GetSocketResponse& response) const;

  std::vector<std::unique_ptr<QueuedMethods>> queues_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_CHANNELZ_SERVICE_H_
