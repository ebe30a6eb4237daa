#ifndef TTL_TESTS_TESTING_DELETE_COUNTER_PROXY_H_
#define TTL_TESTS_TESTING_DELETE_COUNTER_PROXY_H_

#include <grpcpp/channel.h>
#include <grpcpp/server.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/testing/rate_bound.h"
#include "ttl/v1/primary_store_service.grpc.pb.h"

namespace ttl {

// A proxy between a sidecar and its primary store: forwards every call, and records which deletes
// arrived when, so that their rate can be measured. If the store is down, the sidecar gets the
// error of the forwarded call.
//
// Thread-safe.
class DeleteCounterProxy {
 public:
  // Listens on `address` until destroyed. Aborts if it cannot.
  DeleteCounterProxy(const std::string& address, const std::shared_ptr<grpc::Channel>& store);
  ~DeleteCounterProxy();

  DeleteCounterProxy(const DeleteCounterProxy&) = delete;
  DeleteCounterProxy& operator=(const DeleteCounterProxy&) = delete;

  // All batches in the order of arrival, by the steady clock.
  std::vector<DeleteBatch> batches() const;

  // The same batches with the earliest time at which they were sent, by the same clock, in that
  // order. A sidecar sets not_after `delete_deadline` after it sends. How long ago that was is
  // computed from the time of day on arrival, so that setting the time of day during the run
  // affects only batches in flight.
  std::vector<DeleteBatch> batches_as_sent(absl::Duration delete_deadline) const;

  // Items answered so far, by outcome. Items of failed calls are counted under UNSPECIFIED.
  std::map<v1::DeleteOutcome, int64_t> outcomes() const;

  // How long after their expire time items were deleted, at the given quantile (0.5 is the median,
  // 1 the maximum) of all items answered DELETED.
  absl::Duration Lateness(double fraction) const;

 private:
  class Service;

  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_DELETE_COUNTER_PROXY_H_
