#ifndef TTL_CLIENT_CPP_CLIENT_CHANNEL_H_
#define TTL_CLIENT_CPP_CLIENT_CHANNEL_H_

#include <memory>

#include "client/cpp/ttl_client_options.h"
#include "grpcpp/channel.h"

namespace ttl {

// A channel to the sidecar that `options` name. It connects when it is first used, is back
// within two seconds after the sidecar was away, and finds a peer that went away without a
// word. gRPC repeats only what was not sent.
std::shared_ptr<grpc::Channel> NewClientChannel(const TtlClientOptions& options);

// The same, and gRPC repeats what service_config.h says.
std::shared_ptr<grpc::Channel> NewRepeatingChannel(const TtlClientOptions& options);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CLIENT_CHANNEL_H_
