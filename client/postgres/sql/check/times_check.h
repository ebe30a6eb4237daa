#ifndef TTL_CLIENT_POSTGRES_SQL_CHECK_TIMES_CHECK_H_
#define TTL_CLIENT_POSTGRES_SQL_CHECK_TIMES_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/postgres/config/table_config.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Statistics of the times of some rows, in seconds since 1970 as the configuration interprets them.
struct SeenTimes {
  int64_t rows = 0;
  int64_t times = 0;   // rows with a time that is not NULL
  int64_t future = 0;  // more than a day ahead
  int64_t early = 0;   // before 1971
  double oldest = 0;
  double median = 0;
  double newest = 0;
};

// Returns the unit that the times suggest if it is not `configured`; absent if `configured` is
// plausible, or no known unit is. Does no I/O.
std::optional<EpochUnit> LikelyUnit(const SeenTimes& seen, EpochUnit configured, absl::Time now);

// Reads the ts_column of at most ten thousand rows. Adds a problem if its numbers are in another
// unit than configured, since all rows would then date from January 1970, or from a far future.
// Warns of times in the far future or around 1970. With null_means: never, adds a note of the
// number of NULLs. An error means that the database could not be queried.
absl::Status CheckTimes(Connection& connection, const TableDefinition& table, absl::Time now,
                        CatalogReport& report);

// Checks the expires_column likewise: numbers in another unit are a problem; illegal expire times,
// whose rows never expire, are a warning; the number of rows without one is a note.
absl::Status CheckEnds(Connection& connection, const TableDefinition& table, absl::Time now,
                       CatalogReport& report);

// The `_ts` of the row t in seconds since 1970, in SQL; NULL if the row has none.
std::string SecondsExpression(const TableDefinition& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_TIMES_CHECK_H_
