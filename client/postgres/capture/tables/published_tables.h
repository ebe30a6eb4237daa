#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_PUBLISHED_TABLES_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_PUBLISHED_TABLES_H_

#include <string>

#include "absl/status/status.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/tables/captured_tables.h"
#include "client/postgres/capture/tables/table_readings.h"

namespace ttl::postgres {

// Checks that the database still has the tables as they are captured, and that the publication has
// them; has the readings look for new partitions and rewritten files. A locked table is skipped.
// FAILED_PRECONDITION if a table is not as defined, was not published for a time or is not now; the
// last resets its progress.
absl::Status CheckPublished(PatientQuery& database, const std::string& publication,
                            const CapturedTables& tables, TableReadings& readings);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_PUBLISHED_TABLES_H_
