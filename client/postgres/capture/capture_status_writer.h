#ifndef TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_STATUS_WRITER_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_STATUS_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "client/postgres/capture/capture_status.h"
#include "client/postgres/capture/change_reader.h"
#include "client/postgres/capture/reports/report_pipeline.h"
#include "client/postgres/capture/stream/acknowledger.h"
#include "client/postgres/capture/stream/slot_keeper.h"
#include "client/postgres/capture/tables/table_readings.h"

namespace ttl::postgres {

// CaptureStatusWriter writes the status of a session that is streaming to the board. Not
// thread-safe.
class CaptureStatusWriter {
 public:
  // All must outlive the writer.
  struct Parts {
    CaptureStatusBoard& board;
    const std::string& sidecar;  // its address
    const SlotKeeper& slot;
    const ReportPipeline& pipeline;
    const ChangeReader& reader;
    const Acknowledger& acknowledger;
    TableReadings& readings;
  };

  // The capture has caught up once `flushed_at_start` is acknowledged.
  CaptureStatusWriter(const Parts& parts, uint64_t flushed_at_start)
      : parts_(parts), flushed_at_start_(flushed_at_start) {}

  // Writes the status, unless it was written a moment ago.
  void Write(absl::Time now);

 private:
  void WritePositions(absl::Time now, CaptureStatus& status) const;
  void WriteProblem(absl::Time now, CaptureStatus& status);
  void WriteCounts(CaptureStatus& status);

  const Parts parts_;
  const uint64_t flushed_at_start_;
  absl::Time last_write_ = absl::InfinitePast();
  // When a reading started to wait for older transactions.
  absl::Time waiting_since_ = absl::InfiniteFuture();
  // The counts that are in the status already.
  int64_t transactions_ = 0;
  int64_t row_changes_ = 0;
  uint64_t reports_ = 0;
  int64_t refused_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_STATUS_WRITER_H_
