#ifndef TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_SESSION_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_SESSION_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/capture/capture_parts.h"
#include "client/postgres/capture/capture_start.h"
#include "client/postgres/capture/capture_status_writer.h"
#include "client/postgres/capture/change_reader.h"
#include "client/postgres/capture/reports/report_pipeline.h"
#include "client/postgres/capture/stream/acknowledger.h"
#include "client/postgres/capture/tables/table_readings.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::postgres {

// CaptureSession is one attempt of a capture, from connecting to the first error. The next session
// captures again everything that is not durable in the sidecar by then. Not thread-safe.
class CaptureSession {
 public:
  // Connects, and starts the stream. `parts` must outlive the session.
  static absl::StatusOr<std::unique_ptr<CaptureSession>> Start(const CaptureParts& parts);
  CaptureSession(const CaptureSession&) = delete;
  CaptureSession& operator=(const CaptureSession&) = delete;

  // Runs until the capture stops, and then returns OK, or until an error.
  absl::Status Run();

  // Whether the sidecar has acknowledged changes, so that the next attempt can start after a short
  // pause.
  bool has_worked() const { return acknowledger_.has_worked(); }

 private:
  // Does what is due at `now`.
  using Step = std::function<absl::Status(absl::Time now)>;

  CaptureSession(const CaptureParts& parts, CaptureStart start);

  absl::Status RunLoop();
  absl::Status Acknowledge(absl::Time now);
  absl::Status CheckCatalog(absl::Time now);
  absl::Status CheckSlot();
  absl::Status ObserveSnapshots(absl::Time now);
  absl::Duration LongestWait(absl::Time now) const;
  // Replaces a server error that has a known cause with instructions.
  absl::Status WithAdvice(absl::Status status);
  // Returns an error if a running query must stop. Also sends keepalives, so that the server does
  // not time out the stream.
  absl::Status Meanwhile();

  const CaptureParts& parts_;
  const std::unique_ptr<v1::ItemService::Stub> stub_;
  CaptureStart start_;  // without the keeper
  ReportPipeline pipeline_;
  Acknowledger acknowledger_;
  TableReadings readings_;
  ChangeReader reader_;
  CaptureStatusWriter writer_;
  const std::vector<Step> steps_;  // in this order
  absl::Time last_catalog_ = absl::InfinitePast();
  absl::Time last_snapshot_ = absl::InfinitePast();
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_SESSION_H_
