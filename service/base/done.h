#ifndef TTL_SERVICE_BASE_DONE_H_
#define TTL_SERVICE_BASE_DONE_H_

#include <future>
#include <memory>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

namespace ttl {

// A callback that is called exactly once, when a change is durable or refused: on a commit thread,
// or on the calling thread if the change is refused at once. Must not block.
template <typename T>
using Done = absl::AnyInvocable<void(absl::StatusOr<T>)>;
using DoneStatus = absl::AnyInvocable<void(absl::Status)>;

// Calls `start` with a callback and waits until it is called. Must not be used on a commit thread
// or in a gRPC handler.
//   absl::StatusOr<ContainerPtr> c =
//       Await<absl::StatusOr<ContainerPtr>>([&](auto done) { containers.Create(..., done); });
template <typename Result, typename Start>
Result Await(Start&& start) {
  auto promise = std::make_shared<std::promise<Result>>();
  std::future<Result> future = promise->get_future();
  std::forward<Start>(start)([promise](Result result) { promise->set_value(std::move(result)); });
  return future.get();
}

}  // namespace ttl

#endif  // TTL_SERVICE_BASE_DONE_H_
