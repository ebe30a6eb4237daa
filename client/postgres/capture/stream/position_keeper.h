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

// Keeps in the sidecar, beside the items, up to which position of the WAL it knows the changes.
// Calls it without waiting, one call at a time. For one thread.
class PositionKeeper {
 public:
  // `address` is the sidecar's, for errors. `on_change` is called by another thread when Take()
  // has an answer; not after the destructor.
  PositionKeeper(const std::shared_ptr<grpc::Channel>& sidecar, std::string address,
                 std::function<void()> on_change);
  // Cancels the call under way.
  ~PositionKeeper();
  PositionKeeper(const PositionKeeper&) = delete;
  PositionKeeper& operator=(const PositionKeeper&) = delete;

  // Asks what is kept. No call may be under way.
  void Ask();
  // Has `position` kept. No call may be under way.
  void Keep(const SourcePosition& position);

  // Whether a call was begun whose answer was not taken.
  bool is_under_way() const { return call_ != nullptr; }
  // Its answer, once it has come; a call takes at most 30 s. OK: kept() is up to date.
  std::optional<absl::Status> Take();

  // What the sidecar keeps durably; absent before the first answer, or if it keeps none.
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
