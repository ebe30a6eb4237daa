#ifndef TTL_SERVICE_RPC_SERVICES_FEED_SERVICE_H_
#define TTL_SERVICE_RPC_SERVICES_FEED_SERVICE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/core/container.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/feed_progress.h"
#include "service/rpc/services/event_streams.h"
#include "service/rpc/status/feed_view.h"
#include "service/rpc/status/sent_marks.h"
#include "service/storage/containers.h"
#include "service/storage/feed.h"
#include "service/transport/calls/async_write_stream.h"
#include "service/transport/calls/rpc_service.h"
#include "ttl/v1/feed_service.pb.h"

namespace ttl {

// The gRPC service FeedService. Subscriptions that are created and deleted are logged with the
// caller. Thread-safe. No call thread waits for a commit or reads events.
class FeedService final : public RpcService {
 public:
  // All must outlive this.
  struct Parts {
    const Containers& containers;
    Feed& feed;
    const GuardedClock& clock;
    const FeedProgress& progress;
    SentMarks& sent;
    // How long a stream may wait for a client that does not read.
    absl::Duration stall_limit = AsyncWriteStream::kStallLimit;
  };

  explicit FeedService(const Parts& parts);

  const google::protobuf::ServiceDescriptor& descriptor() const override;
  void AddMethods(MethodTable& table) override;

 private:
  void Create(const std::string& author, const v1::CreateSubscriptionRequest& request,
              v1::CreateSubscriptionResponse& response, DoneStatus done);
  absl::Status Get(const v1::GetSubscriptionRequest& request,
                   v1::GetSubscriptionResponse& response) const;
  absl::Status List(const v1::ListSubscriptionsRequest& request,
                    v1::ListSubscriptionsResponse& response) const;
  void Delete(const std::string& author, const v1::DeleteSubscriptionRequest& request,
              v1::DeleteSubscriptionResponse& response, DoneStatus done);
  void Acknowledge(const std::string& author, const v1::AcknowledgeRequest& request,
                   v1::AcknowledgeResponse& response, DoneStatus done);

  // A subscription and its container.
  struct Found {
    ContainerPtr container;
    SubscriptionView view;
  };
  absl::StatusOr<Found> Find(absl::string_view container_id, absl::string_view name) const;

  // OK if `caller` may acknowledge now what `request` says.
  absl::Status MayAcknowledge(const std::string& caller, const v1::AcknowledgeRequest& request,
                              const Found& found) const;

  const Parts parts_;
  const FeedView view_;
  EventStreams streams_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_FEED_SERVICE_H_
