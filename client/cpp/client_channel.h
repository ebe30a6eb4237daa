#ifndef TTL_CLIENT_CPP_CLIENT_CHANNEL_H_
#define TTL_CLIENT_CPP_CLIENT_CHANNEL_H_

#include <memory>

#include "client/cpp/service_config.h"
#include "client/cpp/ttl_client_options.h"
#include "grpcpp/channel.h"

namespace ttl {

// A channel to the sidecar that `options` name. Channels that differ only in
// `repeat_reports` share one connection. It connects when it is first used, is back
// within seconds after the sidecar was away, and finds a peer that went away without
// a word.
std::shared_ptr<grpc::Channel> NewClientChannel(const TtlClientOptions& options,
                                                RepeatReports repeat_reports);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_CLIENT_CHANNEL_H_
