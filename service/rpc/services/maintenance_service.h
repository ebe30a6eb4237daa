#ifndef TTL_SERVICE_RPC_SERVICES_MAINTENANCE_SERVICE_H_
#define TTL_SERVICE_RPC_SERVICES_MAINTENANCE_SERVICE_H_

#include <atomic>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/core/adoption_preview.h"
#include "service/core/guarded_clock.h"
#include "service/core/state/published_reconciliation.h"
#include "service/storage/levers.h"
#include "service/storage/storage.h"
#include "service/transport/calls/call_worker.h"
#include "service/transport/calls/rpc_service.h"
#include "service/transport/calls/source_stream.h"
#include "ttl/v1/maintenance_service.pb.h"

namespace ttl {

// The gRPC service MaintenanceService. Previews, verifications and backups run on a thread of its
// own with low priority. Thread-safe.
class MaintenanceService final : public RpcService {
 public:
  static constexpr int kMaxStreams = 8;

  // All must outlive this.
  struct Parts {
    Storage& storage;
    const GuardedClock& clock;
    Levers& levers;
    PublishedReconciliation& reconciliations;
    bool has_store = false;     // whether a primary store is configured
    AdoptionPreviewer preview;  // empty if none is configured
    // A stream is ended when its client has read nothing for this long.
    absl::Duration stall_limit = absl::Seconds(30);
  };

  explicit MaintenanceService(Parts parts) : parts_(std::move(parts)) {}

  const google::protobuf::ServiceDescriptor& descriptor() const override;
  void AddMethods(MethodTable& table) override;

  // GetReconciliation.
  absl::Status Get(const v1::GetReconciliationRequest& request,
                   v1::GetReconciliationResponse& response) const;

 private:
  // One of kMaxStreams, held while a stream is open.
  class StreamSlot;

  absl::Status Start(const v1::StartReconciliationRequest& request,
                     v1::StartReconciliationResponse& response);
  absl::Status Cancel(const v1::CancelReconciliationRequest& request,
                      v1::CancelReconciliationResponse& response);
  void Trust(const v1::TrustDataRequest& request, v1::TrustDataResponse& response, DoneStatus done);
  absl::Status GetPosition(const v1::GetSourcePositionRequest& request,
                           v1::GetSourcePositionResponse& response) const;
  void SetPosition(const v1::SetSourcePositionRequest& request,
                   v1::SetSourcePositionResponse& response, DoneStatus done);

  absl::StatusOr<std::shared_ptr<StreamSlot>> TakeStreamSlot();
  absl::StatusOr<MessageSource<v1::PreviewContainerResponse>> OpenPreview(
      const v1::PreviewContainerRequest& request);
  absl::StatusOr<MessageSource<v1::VerifyDataResponse>> OpenVerification();
  absl::StatusOr<MessageSource<v1::BackUpDataResponse>> OpenBackup();

  const Parts parts_;
  std::atomic<int> streams_ = 0;
  CallWorker maintenance_;  // last, because its tasks use all of the above
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_SERVICES_MAINTENANCE_SERVICE_H_
