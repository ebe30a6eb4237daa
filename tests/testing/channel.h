#ifndef TTL_TESTS_TESTING_CHANNEL_H_
#define TTL_TESTS_TESTING_CHANNEL_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace ttl {

// A channel of its own (no connection shared with other channels) to `address`
// that reconnects within 200 ms once a killed server is back, if somebody waits
// for it: in a process without a gRPC server a connection makes progress only
// while a call or WaitForConnected is waiting; calls that fail at once do not
// count, and gRPC itself looks every five seconds.
std::shared_ptr<grpc::Channel> NewTestChannel(const std::string& address);

// Asks the gRPC health service behind `channel` about `service`. OK if it
// answers SERVING; Unavailable if it answers anything else; otherwise the error
// of the call. Waits up to `deadline` for a server that is not there yet.
absl::Status CheckHealth(const std::shared_ptr<grpc::Channel>& channel, const std::string& service,
                         absl::Duration deadline = absl::Seconds(1));

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_CHANNEL_H_
