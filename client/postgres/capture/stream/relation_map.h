#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_RELATION_MAP_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_RELATION_MAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/postgres/capture/stream/pgoutput.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// The types that the columns of a table have, as the WAL says them.
struct ColumnType {
  uint32_t oid = 0;
  int32_t modifier = -1;  // as in varchar(20)

  friend bool operator==(const ColumnType&, const ColumnType&) = default;
};
using ColumnTypes = absl::flat_hash_map<std::string, ColumnType>;  // by name

// A table of ours, and what it looks like in the stream.
struct StreamedTable {
  // A column that is used, and its place in a tuple.
  struct Place {
    std::string name;
    size_t index = 0;
  };

  const TableDefinition* definition = nullptr;
  size_t number = 0;  // of the definition, from 0

  // All of these from the last relation message, if it fitted.
  std::vector<Place> partition_key;
  std::vector<Place> id;
  std::optional<Place> ts;
  std::optional<Place> ttl;
  std::optional<Place> expires;
  std::optional<Place> size;
  size_t columns = 0;

  // OK: rows can be read. Else why the table, as it was when they were written, is not what it
  // is now (FAILED_PRECONDITION), or that it was not described yet (DATA_LOSS).
  absl::Status fit;
};

// Which relations of the stream are which tables, and where in their rows the columns are. What
// becomes of columns that are not used does not matter. For one thread.
class RelationMap {
 public:
  // `definitions` must outlive this; `types` are those of their columns, in the same order.
  RelationMap(absl::Span<const TableDefinition> definitions, std::vector<ColumnTypes> types);

  // Takes note of what a table looks like from now on. A table that is not ours is ignored.
  // FAILED_PRECONDITION, which is in StreamedTable::fit too, names what does not fit: a column
  // that is not there under its name or has another type, a table of another name.
  absl::Status Describe(const RelationMessage& relation);

  // Null if it is none of ours.
  const StreamedTable* Find(uint32_t relation) const;

 private:
  absl::Status Fit(const RelationMessage& relation, StreamedTable& table) const;

  const std::vector<ColumnTypes> types_;
  absl::flat_hash_map<uint32_t, StreamedTable> tables_;  // by oid
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_RELATION_MAP_H_
