#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_CATALOG_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_CATALOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/stream/relation_map.h"
#include "client/postgres/capture/stream/source_position.h"
#include "client/postgres/sql/table_definition.h"

// Reads the current catalogue entries of the tables, to be compared with those at the start.
namespace ttl::postgres {

// Returns the types of the used columns. FAILED_PRECONDITION names each difference from the
// definition: a table or column that is gone or renamed, or a different type.
absl::StatusOr<ColumnTypes> ReadColumnTypes(PatientQuery& database, const TableDefinition& table);

// Returns the oid of each published table's entry in the publication, by table oid. The entry's oid
// changes if the table is removed from the publication and added again. Empty if the publication
// does not exist.
absl::StatusOr<absl::flat_hash_map<uint32_t, uint32_t>> ReadPublished(
    PatientQuery& database, const std::string& publication);

// A leaf partition of a partitioned table, or the table itself if it is not partitioned.
struct Partition {
  uint32_t oid = 0;
  // Changes after an event that the stream may not contain: TRUNCATE, a rewrite, or a detach.
  uint32_t mark = 0;
  std::string schema;
  std::string name;
};

// Returns the partitions, in the order of their oids.
absl::StatusOr<std::vector<Partition>> ReadPartitions(PatientQuery& database,
                                                      const TableDefinition& table);

// Returns the partition's bounds as an SQL condition; empty: there is none, or it is not a
// partition any more.
absl::StatusOr<std::string> ReadBounds(PatientQuery& database, const Partition& partition);

// Changes since TableProgress::partitions was stored.
struct PartitionChanges {
  // Rows may be gone: a partition was detached, dropped or emptied, at least temporarily.
  bool has_lost_rows = false;
  // Partitions that may have new rows and must be read.
  std::vector<Partition> added;
  // The new value to store; an element of `added` is added only once it is read.
  std::vector<uint32_t> noted;
};
PartitionChanges ComparePartitions(const std::vector<uint32_t>& noted,
                                   const std::vector<Partition>& partitions);

// Returns all partitions as TableProgress::partitions.
std::vector<uint32_t> NotePartitions(const std::vector<Partition>& partitions);

// Returns the approximate number of rows, by the statistics.
absl::StatusOr<int64_t> EstimateRows(PatientQuery& database, const TableDefinition& table);

// Returns the WAL flush LSN.
absl::StatusOr<uint64_t> ReadFlushPosition(PatientQuery& database);
// Returns the WAL insert LSN. It is ahead of the flush LSN after a commit that did not wait for the
// flush.
absl::StatusOr<uint64_t> ReadInsertPosition(PatientQuery& database);
// Returns the flush LSN, and the identity of the server.
absl::StatusOr<SourcePosition> ReadSource(PatientQuery& database);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_CATALOG_H_
