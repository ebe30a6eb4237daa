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

// The values of a row that matter, as text in the session settings of Connection.
struct RowTexts {
  std::vector<absl::string_view> partition_key;  // never NULL
  std::vector<absl::string_view> id;             // never NULL
  // A timestamp without time zone as it is stored, which the stream has, or as the instant that it
  // says, which queries of RowSelect return.
  std::optional<absl::string_view> ts;
  std::optional<absl::string_view> ttl;
  // As ts; a date as it is stored, or as the instant.
  std::optional<absl::string_view> expires;
  std::optional<absl::string_view> size;
  // Whether the table's `where`, if it has one, takes it in. The stream does not say.
  bool is_taken_in = true;
};

// What the database itself says of a row.
struct RowVersion {
  // xmin of the row as a decimal number: the etag.
  absl::string_view xmin;
  // The item's sequence: the LSN of the commit, or a lower bound of it. 0: it has none.
  uint64_t lsn = 0;
  // For tables without a column of _ts; absent if it is no longer known.
  std::optional<absl::Time> commit_time;
};

// Why a row never expires by the word of the configuration. It is not tracked, and that is no
// fault.
enum class Exemption {
  kNone,
  kNullTime,  // its time is NULL, and null_means: never
  kOutside,   // the table's `where` does not take it in
};
Exemption ExemptionOf(const TableDefinition& table, const RowTexts& row);

// The row as the sidecar tracks it. INVALID_ARGUMENT says why a row cannot be tracked: no
// _ts, a _ts, ttl or end that the TTL rules do not allow, a key that is too long, an exemption.
// Such a row never expires. `now` bounds how far ahead a _ts may be. A size that cannot be one is
// not known.
absl::StatusOr<v1::Item> RowToItem(const TableDefinition& table, const RowTexts& row,
                                   const RowVersion& version, absl::Time now);

// The text of a timestamp with time zone in UTC and ISO style, in whole seconds rounded down.
// INVALID_ARGUMENT for infinity, years BC and what is no such text.
absl::StatusOr<int64_t> ParseTimestamp(absl::string_view text);

// The same for the text of a timestamp without time zone that is in `zone`.
absl::StatusOr<int64_t> ParseReading(absl::string_view text, const StatedZone& zone);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_ROW_ITEM_H_
