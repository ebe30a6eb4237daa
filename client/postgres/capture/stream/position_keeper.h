#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_POSITION_KEEPER_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_POSITION_KEEPER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "client/postgres/capture/stream/source_position.h"
#include "grpcpp/channel.h"
#include "ttl/v1/maintenance_service.grpc.pb.h"

namespace ttl::postgres {

// Keeps in the sidecar, beside the items, the LSN up to which it has the changes. Makes one call at
// a time, without blocking. Not thread-safe.
class PositionKeeper {
 public:
  // `address` is the sidecar's, for errors. Another thread calls `on_change` when Take() has an
  // answer, but not after the destructor.
  PositionKeeper(const std::shared_ptr<grpc::Channel>& sidecar, std::string address,
                 std::function<void()> on_change);
  // Cancels the running call.
  ~PositionKeeper();
  PositionKeeper(const PositionKeeper&) = delete;
  PositionKeeper& operator=(const PositionKeeper&) = delete;

  // Requests the kept position. REQUIRES: !is_pending().
  void Ask();
  // Stores `position`. REQUIRES: !is_pending().
  void Keep(const SourcePosition& position);

  // Whether a call was started whose answer was not taken.
  bool is_pending() const { return call_ != nullptr; }
  // Returns the answer once it has arrived; a call takes at most 30 s. OK: kept() is up to date.
  std::optional<absl::Status> Take();

  // The position that the sidecar keeps durably; absent before the first answer, or if it keeps
  // none.
  const std::optional<SourcePosition>& kept() const { return kept_; }

 private:
  struct Call;

  std::function<void(grpc::Status)> Finish(Call& call);

  const std::unique_ptr<v1::MaintenanceService::Stub> stub_;
  const std::string address_;
  const std::function<void()> on_change_;
  std::optional<SourcePosition> kept_;
  std::unique_ptr<Call> call_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_POSITION_KEEPER_H_
