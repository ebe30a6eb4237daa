#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_READINGS_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_READINGS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/postgres/capture/capture_parts.h"
#include "client/postgres/capture/capture_status.h"
#include "client/postgres/capture/reports/report_pipeline.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/tables/captured_tables.h"
#include "client/postgres/capture/tables/scan_display.h"
#include "client/postgres/capture/tables/table_reading.h"
#include "client/postgres/sql/table_definition.h"
#include "service/base/wall_clock.h"
#include "ttl/v1/item_service.grpc.pb.h"

namespace ttl::postgres {

// TableReadings are the TableReadings of all tables of a session, one after the other. It shows the
// first scan to people, and logs the rows that cannot be tracked. Not thread-safe.
class TableReadings {
 public:
  // Begins once queries see every commit up to the LSN `needed`. All must outlive this.
  TableReadings(const CaptureParts& parts, const CapturedTables& tables, PatientQuery& database,
                v1::ItemService::Stub& sidecar, ReportPipeline& pipeline, uint64_t needed);
  TableReadings(const TableReadings&) = delete;
  TableReadings& operator=(const TableReadings&) = delete;

  size_t size() const { return readings_.size(); }
  TableReading& of(size_t number) { return *readings_[number]; }

  // Stores the progress that is due, and does one small step if possible; returns whether it did.
  // `sees_all` returns whether queries see every change received from the stream.
  absl::StatusOr<bool> Step(absl::FunctionRef<absl::StatusOr<bool>()> sees_all, absl::Time now);

  // Whether Step() has something to do.
  bool has_work() const;
  // Whether a reading waits for other sessions' transactions to end.
  bool is_waiting() const;

  // What is done now, for humans.
  std::string State() const;
  // Sets the tables in `status`, and adds the counts to those in it.
  void ShowIn(CaptureStatus& status);

 private:
  absl::StatusOr<bool> StepOne(absl::FunctionRef<absl::StatusOr<bool>()> sees_all, absl::Time now);
  void ShowScan(absl::Time now);
  void LogUntrackable(const TableDefinition& table, const absl::Status& why);

  const CapturedTables& tables_;
  const WallClock& clock_;
  std::vector<std::unique_ptr<TableReading>> readings_;  // by table
  ScanDisplay display_;
  absl::Time last_untrackable_ = absl::InfinitePast();
  int64_t unlogged_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_READINGS_H_
