#ifndef TTL_CLIENT_CHANNEL_H_
#define TTL_CLIENT_CHANNEL_H_

#include <memory>

#include "grpcpp/channel.h"
#include "ttl/client_options.h"

namespace ttl {

// A channel to the sidecar at the address in `options`. It connects on first use, reconnects within
// two seconds after the sidecar is back, and detects half-open connections. gRPC retries only calls
// that were not sent.
std::shared_ptr<grpc::Channel> NewClientChannel(const TtlClientOptions& options);

// The same for stubs that are used without a TtlClient: gRPC itself retries reads after
// UNAVAILABLE, reports after RESOURCE_EXHAUSTED, and touches after both, up to 4 attempts inside
// the deadline of the call.
std::shared_ptr<grpc::Channel> NewRepeatingChannel(const TtlClientOptions& options);

}  // namespace ttl

#endif  // TTL_CLIENT_CHANNEL_H_
