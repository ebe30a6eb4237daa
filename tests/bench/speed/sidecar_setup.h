#ifndef TTL_TESTS_BENCH_SPEED_SIDECAR_SETUP_H_
#define TTL_TESTS_BENCH_SPEED_SIDECAR_SETUP_H_

#include <grpcpp/channel.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

// What a sidecar has before it is measured.
namespace ttl::bench {

absl::Status CreateContainer(const std::shared_ptr<grpc::Channel>& channel, const std::string& id,
                             int64_t default_ttl);

// Makes the containers that the loads use, with a default_ttl of a day, and the first
// `items` of the loaded one as TruthOf() says.
absl::Status LoadItems(const std::shared_ptr<grpc::Channel>& channel, uint64_t items);

// Gives a container a feed, with the default settings.
absl::Status SwitchFeedOn(const std::shared_ptr<grpc::Channel>& channel,
                          const std::string& container);

// Items `first` up to `end` of a container, without a ttl of their own, unless they expire at a
// time (Unix seconds).
struct LoadPlan {
  std::string container;
  uint64_t first = 0;
  uint64_t end = 0;
  int64_t ts = 0;
  std::optional<int64_t> expire_time = {};
};
absl::Status LoadInheriting(const std::shared_ptr<grpc::Channel>& channel, const LoadPlan& plan);

// Keeps what is expired in a container from being deleted.
absl::Status PauseDeletesOf(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& container);

// Ends what the flag --start-paused began.
absl::Status ResumeAllDeletes(const std::shared_ptr<grpc::Channel>& channel);

// Items tracked in all containers. Costs the server a walk over what is due: not to be
// asked while something is measured.
absl::StatusOr<int64_t> CountTrackedItems(const std::shared_ptr<grpc::Channel>& channel);

// Items of a container deleted since the sidecar was started. Costs it a walk, as above.
absl::StatusOr<int64_t> CountDeletedItems(const std::shared_ptr<grpc::Channel>& channel,
                                          const std::string& container);

// Waits until there are no more than `at_most`. DEADLINE_EXCEEDED if there still are.
absl::Status AwaitTrackedItems(const std::shared_ptr<grpc::Channel>& channel, int64_t at_most,
                               absl::Duration deadline);

// Waits until one item is not tracked any more, which costs the server next to nothing.
absl::Status AwaitForgotten(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& container, uint64_t item, absl::Duration deadline);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_SIDECAR_SETUP_H_
