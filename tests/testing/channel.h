#ifndef TTL_TESTS_TESTING_CHANNEL_H_
#define TTL_TESTS_TESTING_CHANNEL_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace ttl {

// A channel of its own (no connection shared with other channels) to `address`
// that reconnects within 200 ms once a killed server is back.
std::shared_ptr<grpc::Channel> NewTestChannel(const std::string& address);

// Asks the gRPC health service behind `channel` about `service`. OK if it
// answers SERVING; Unavailable if it answers anything else; otherwise the error
// of the call.
absl::Status CheckHealth(const std::shared_ptr<grpc::Channel>& channel, const std::string& service,
                         absl::Duration deadline = absl::Seconds(1));

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_CHANNEL_H_
