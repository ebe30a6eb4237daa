#ifndef TTL_TESTS_TESTING_CHANNEL_H_
#define TTL_TESTS_TESTING_CHANNEL_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace ttl {

// A channel to `address` that shares no connection with other channels and reconnects within 200 ms
// once a killed server is back, if a call or WaitForConnected() is waiting: in a process without a
// gRPC server a connection makes progress only then. Calls that fail at once do not count, and gRPC
// itself checks every five seconds.
std::shared_ptr<grpc::Channel> NewTestChannel(const std::string& address);

// A channel that takes in no more than 64 KiB before somebody reads, over a connection of its own.
std::shared_ptr<grpc::Channel> NewSmallChannel(const std::string& address);

// Calls the gRPC health service behind `channel` for `service`. OK if it responds SERVING;
// UNAVAILABLE if it responds anything else; otherwise the error of the call. Waits until `deadline`
// for a server that is not up yet.
absl::Status CheckHealth(const std::shared_ptr<grpc::Channel>& channel, const std::string& service,
                         absl::Duration deadline = absl::Seconds(1));

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_CHANNEL_H_
