#ifndef TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_PARTS_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_PARTS_H_

#include <atomic>
#include <memory>
#include <vector>

#include "client/postgres/capture/capture_options.h"
#include "client/postgres/capture/capture_status.h"
#include "client/postgres/capture/stream/slot_keeper.h"
#include "client/postgres/capture/stream/wake_event.h"
#include "client/postgres/capture/tables/known_containers.h"
#include "client/postgres/config/config.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/sql/table_definition.h"
#include "grpcpp/channel.h"
#include "service/base/wall_clock.h"

namespace ttl::postgres {

// What a capture shares with its sessions. All must outlive the session that uses it.
struct CaptureParts {
  const Config& config;
  const std::vector<TableDefinition>& tables;
  const std::shared_ptr<grpc::Channel>& sidecar;
  const WallClock& clock;
  const KnownContainers& containers;
  const CaptureOptions& options;
  VisiblePosition& visible;
  CaptureStatusBoard& board;
  SlotKeeper& slot;
  WakeEvent& wake;
  const std::atomic<bool>& stop;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_PARTS_H_
