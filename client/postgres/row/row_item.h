#ifndef TTL_CLIENT_POSTGRES_ROW_ROW_ITEM_H_
#define TTL_CLIENT_POSTGRES_ROW_ROW_ITEM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/sql/table_definition.h"
#include "ttl/v1/item.pb.h"

namespace ttl::postgres {

// The used columns of a row, as text in the session settings of Connection.
struct RowTexts {
  std::vector<absl::string_view> partition_key;  // never NULL
  std::vector<absl::string_view> id;             // never NULL
  // A timestamp without time zone is either the stored text, as in the stream, or the instant, as
  // RowSelect's queries return it.
  std::optional<absl::string_view> ts;
  std::optional<absl::string_view> ttl;
  // As `ts`; a date is either the stored text or the instant.
  std::optional<absl::string_view> expires;
  std::optional<absl::string_view> size;
  // Whether the row satisfies the table's `where`, if there is one. The stream does not tell.
  bool matches_where = true;
};

// Metadata that the database keeps of a row version.
struct RowVersion {
  // xmin of the row as a decimal number; it is the item's etag.
  absl::string_view xmin;
  // The item's sequence: the LSN of the commit, or a lower bound of it. 0: none.
  uint64_t lsn = 0;
  // Set for tables without a _ts column; absent if the database no longer knows it.
  std::optional<absl::Time> commit_time;
};

// Why the configuration exempts a row from expiry. Such a row is not tracked, which is not an
// error.
enum class Exemption {
  kNone,
  kNullTime,  // its time is NULL, and null_means is never
  kOutside,   // it does not satisfy the table's `where`
};
Exemption ExemptionOf(const TableDefinition& table, const RowTexts& row);

// Converts a row to the item that the sidecar tracks. INVALID_ARGUMENT if the row cannot be tracked
// and so never expires: no _ts; a _ts, ttl or expire time that the TTL rules do not allow; a key
// that is too long; an exemption. `now` bounds how far ahead a _ts may be. An invalid size counts
// as unknown.
absl::StatusOr<v1::Item> RowToItem(const TableDefinition& table, const RowTexts& row,
                                   const RowVersion& version, absl::Time now);

// Parses a timestamp with time zone, in UTC and ISO style, to Unix seconds, rounded down.
// INVALID_ARGUMENT for infinity, years BC and any other text.
absl::StatusOr<int64_t> ParseTimestamp(absl::string_view text);

// Parses a timestamp without time zone, read in `zone`, as ParseTimestamp() does.
absl::StatusOr<int64_t> ParseReading(absl::string_view text, const StatedZone& zone);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_ROW_ITEM_H_
