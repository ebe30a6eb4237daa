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

// Stands between a sidecar and its primary store: forwards every call and notes
// what deletes arrived when, so that their rate can be counted when sent.
// A store that is away is answered for with the error of the forwarded call.
//
// Thread-safe.
class DeleteCounterProxy {
 public:
  // Listens on `address` until destroyed. Aborts if it cannot.
  DeleteCounterProxy(const std::string& address, const std::shared_ptr<grpc::Channel>& store);
  ~DeleteCounterProxy();

  DeleteCounterProxy(const DeleteCounterProxy&) = delete;
  DeleteCounterProxy& operator=(const DeleteCounterProxy&) = delete;

  // All batches that arrived, in order, by the steady clock.
  std::vector<DeleteBatch> batches() const;

  // The same batches, by the same clock, by when they were sent at the earliest; ordered by
  // that. A sidecar sets not_after `delete_deadline` after the instant of sending. How long ago
  // that was is read from the time of day when a batch arrives, so that a time of day that is
  // set during the run moves no batch but those on their way.
  std::vector<DeleteBatch> batches_as_sent(absl::Duration delete_deadline) const;

  // Items answered so far, by outcome. Items of calls that failed are counted
  // under UNSPECIFIED.
  std::map<v1::DeleteOutcome, int64_t> outcomes() const;

  // How long after its expire time an item was deleted, at the given fraction
  // (0.5 is the median, 1 the latest) of all that were answered DELETED.
  absl::Duration Lateness(double fraction) const;

 private:
  class Service;

  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_DELETE_COUNTER_PROXY_H_
