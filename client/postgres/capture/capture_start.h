#ifndef TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_START_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_START_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/capture/capture_parts.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/stream/position_keeper.h"
#include "client/postgres/capture/stream/replication_stream.h"
#include "client/postgres/capture/stream/source_position.h"
#include "client/postgres/capture/tables/captured_tables.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

inline constexpr char kCaptureName[] = "ttl-postgres capture";  // application_name

// What a session of a capture begins with: the stream runs, and the progress of each table says
// what else must be read.
struct CaptureStart {
  CapturedTables tables;
  std::unique_ptr<Connection> connection;
  std::unique_ptr<PatientQuery> database;
  std::unique_ptr<PositionKeeper> keeper;
  std::unique_ptr<ReplicationStream> stream;
  SourcePosition server;           // identifies the server; its lsn is unused
  uint64_t begin = 0;              // the stream has every commit from this LSN on
  uint64_t flushed = 0;            // the WAL was flushed up to this LSN after the stream started
  absl::Duration status_interval;  // of the stream
};

// Starts a session. Queries of CaptureStart::database return CANCELLED once the capture stops.
// Besides, errors are those of the sidecar and of the database; FAILED_PRECONDITION tells what to
// install.
absl::StatusOr<CaptureStart> StartCapture(const CaptureParts& parts);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_START_H_
