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

// The type of a table's column, as in the WAL.
struct ColumnType {
  uint32_t oid = 0;
  int32_t modifier = -1;  // as in varchar(20)

  friend bool operator==(const ColumnType&, const ColumnType&) = default;
};
using ColumnTypes = absl::flat_hash_map<std::string, ColumnType>;  // by column name

// A followed table, and its format in the stream.
struct StreamedTable {
  // A used column, and its index in a tuple.
  struct Place {
    std::string name;
    size_t index = 0;
  };

  const TableDefinition* definition = nullptr;
  size_t number = 0;  // index of the definition of its item
  size_t types = 0;   // index of its column types

  // Set from the last relation message, if it fitted.
  std::vector<Place> partition_key;
  std::vector<Place> id;
  std::optional<Place> ts;
  std::optional<Place> ttl;
  std::optional<Place> expires;
  std::optional<Place> size;
  size_t columns = 0;

  // OK: rows can be parsed. FAILED_PRECONDITION: the reason why the table's format when the rows
  // were written does not fit the definition. DATA_LOSS: the table was not described yet.
  absl::Status fit;
};

// Maps relations of the stream to followed tables, and their used columns to indexes. Changes of
// unused columns do not matter. Not thread-safe.
class RelationMap {
 public:
  // `definitions` must outlive the map; `types` are those of the columns of their TablesOf(), in
  // the same order.
  RelationMap(absl::Span<const TableDefinition> definitions, std::vector<ColumnTypes> types);

  // Records a table's format from now on; ignores a table that is not followed.
  // FAILED_PRECONDITION, which is also stored in StreamedTable::fit, names the mismatch: a column
  // that is missing under its name or has another type, or a table of another name.
  absl::Status Describe(const RelationMessage& relation);

  // Null if the relation is not a followed table.
  const StreamedTable* Find(uint32_t relation) const;

 private:
  absl::Status Fit(const RelationMessage& relation, StreamedTable& table) const;

  const std::vector<ColumnTypes> types_;
  absl::flat_hash_map<uint32_t, StreamedTable> tables_;  // by oid
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_RELATION_MAP_H_
