#ifndef TTL_SERVICE_RPC_ITEM_SERVICE_H_
#define TTL_SERVICE_RPC_ITEM_SERVICE_H_

#include <memory>
#include <vector>

#include "service/rpc/call_queue.h"
#include "service/rpc/call_worker.h"
#include "service/rpc/item_calls.h"
#include "service/rpc/queued_method.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl {

// Checks come and go as bytes (see CheckRequest), all else as the generated messages.
using ItemEndpoint = v1::ItemService::WithRawMethod_CheckVisibility<
    v1::ItemService::WithRawMethod_StreamCheckVisibility<
        v1::ItemService::WithAsyncMethod_TrackItems<
            v1::ItemService::WithAsyncMethod_StreamTrackItems<
                v1::ItemService::WithAsyncMethod_UntrackItems<
                    v1::ItemService::WithAsyncMethod_GetItem<
                        v1::ItemService::WithAsyncMethod_ListItems<v1::ItemService::Service>>>>>>>;

// The gRPC service of the same name: ItemCalls, by gRPC. Never waits for a change to
// become durable. Thread-safe once it accepts calls.
class ItemService final {
 public:
  // What a server registers of it; each server has its own.
  using Endpoint = ItemEndpoint;

  // `calls` must outlive this.
  explicit ItemService(ItemCalls& calls) : calls_(calls) {}

  // Accepts calls of `endpoint` on a queue of its server, whose thread does not run yet;
  // see CallQueue. This, `endpoint` and `worker` must outlive the queue. Once per queue,
  // by one thread at a time.
  void AcceptCalls(Endpoint& endpoint, CallQueue& queue, CallWorker& worker);

  // Before the server stops: ends the open streams, and later ones at once, with
  // UNAVAILABLE, when what they have read is answered.
  void EndStreams();

 private:
  ItemCalls& calls_;
  std::vector<std::unique_ptr<QueuedMethods>> queues_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_ITEM_SERVICE_H_
