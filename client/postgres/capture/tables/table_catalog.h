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

// What the catalogue says of the tables now, against what it said when the program started.
namespace ttl::postgres {

// The types of the columns that are used. FAILED_PRECONDITION names what is not as in the
// definition any more: the table or a column gone or renamed, another type.
absl::StatusOr<ColumnTypes> ReadColumnTypes(PatientQuery& database, const TableDefinition& table);

// By the oid of each table that a publication has, the oid of its place there, which is another one
// after it was taken out and put in again. None if the publication does not exist.
absl::StatusOr<absl::flat_hash_map<uint32_t, uint32_t>> ReadPublished(
    PatientQuery& database, const std::string& publication);

// One leaf of a partitioned table; the only one of another.
struct Partition {
  uint32_t oid = 0;
  // Another one after what the stream says nothing of: TRUNCATE, a rewrite, or having been detached
  // meanwhile.
  uint32_t mark = 0;
  std::string schema;
  std::string name;
};

// In the order of their oids.
absl::StatusOr<std::vector<Partition>> ReadPartitions(PatientQuery& database,
                                                      const TableDefinition& table);

// The condition that its rows fulfil, as SQL; empty: there is none, or it is no partition any more.
absl::StatusOr<std::string> ReadBounds(PatientQuery& database, const Partition& partition);

// What has changed since TableProgress::partitions were noted.
struct PartitionChanges {
  // Rows may have gone: a partition was detached, dropped or emptied, at least for a time.
  bool has_lost_rows = false;
  // Rows may have come: these have to be read.
  std::vector<Partition> added;
  // What to note instead; `added` only once they are read.
  std::vector<uint32_t> noted;
};
PartitionChanges ComparePartitions(const std::vector<uint32_t>& noted,
                                   const std::vector<Partition>& partitions);

// All of them, as TableProgress::partitions.
std::vector<uint32_t> NotePartitions(const std::vector<Partition>& partitions);

// About how many rows it has, by the statistics.
absl::StatusOr<int64_t> EstimateRows(PatientQuery& database, const TableDefinition& table);

// How far the WAL is on disk.
absl::StatusOr<uint64_t> ReadFlushPosition(PatientQuery& database);
// How far it is: further, after a commit that did not wait for the disk.
absl::StatusOr<uint64_t> ReadInsertPosition(PatientQuery& database);
// The same, and which server it is.
absl::StatusOr<SourcePosition> ReadSource(PatientQuery& database);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_TABLE_CATALOG_H_
