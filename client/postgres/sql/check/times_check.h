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

// The times of some rows, in seconds since 1970 as the configuration reads them.
struct SeenTimes {
  int64_t rows = 0;
  int64_t times = 0;   // of these, not NULL
  int64_t future = 0;  // more than a day ahead
  int64_t early = 0;   // before 1971
  double oldest = 0;
  double median = 0;
  double newest = 0;
};

// The unit that a number is in rather than in `configured`, judged by the times; absent if they
// can be in that one, or in no known one. Pure.
std::optional<EpochUnit> LikelyUnit(const SeenTimes& seen, EpochUnit configured, absl::Time now);

// Looks at the ts_column of at most ten thousand rows. Adds a problem if its numbers are in
// another unit than the configuration says: all rows would count as of January 1970, or of a
// time far ahead. Adds a warning of times that are far ahead or around 1970, and with null_means:
// never a note of how many are NULL. An error means that the database could not be asked.
absl::Status CheckTimes(Connection& connection, const TableDefinition& table,
                        CatalogReport& report);

// The same of the expires_column: numbers in another unit are a problem; ends that are not legal,
// so that their rows never expire, are a warning; and those that there are none of are a note.
absl::Status CheckEnds(Connection& connection, const TableDefinition& table, CatalogReport& report);

// A _ts column as seconds since 1970 in SQL: NULL if the row has none.
std::string SecondsExpression(const TableDefinition& table);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_SQL_CHECK_TIMES_CHECK_H_
