#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_CAPTURED_TABLES_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_CAPTURED_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/stream/relation_map.h"
#include "client/postgres/capture/tables/known_containers.h"
#include "client/postgres/capture/tables/table_progress.h"
#include "client/postgres/config/config.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// CapturedTables are the tables of one session of a capture, with what is known of them when it
// starts. The definitions keep their addresses when this is moved. Not thread-safe.
class CapturedTables {
 public:
  // The oids of a table's entries in the publication, by TablesOf(); 0: not published.
  using PublishedOids = std::vector<uint32_t>;

  // Chooses those of `tables` whose containers the sidecar has. UNAVAILABLE if it does not answer.
  static absl::StatusOr<CapturedTables> Choose(const std::vector<TableDefinition>& tables,
                                               const KnownContainers& containers);

  // Reads the types of the columns, the entries in the publication and the progress. Resets the
  // progress of a table that is not the one it is of, and deletes that of tables that are not
  // captured, whose changes are lost.
  absl::Status Load(PatientQuery& database, const Config& config);

  // Durably resets the progress of all tables, so that they are read again. Returns whether any of
  // them had progress, that is, whether changes may have been lost.
  absl::StatusOr<bool> StartOver(PatientQuery& database, const std::string& schema);

  // ABORTED if a container was created, or created again, since Choose(): another session must
  // begin. NOT_FOUND if a container was deleted.
  absl::Status CheckContainers(const KnownContainers& containers);

  // By table, in the same order.
  size_t size() const { return definitions_.size(); }
  const std::vector<TableDefinition>& definitions() const { return definitions_; }
  // GroupsAsRows() of the definitions.
  const std::vector<TableDefinition>& items() const { return items_; }
  const std::string& container(size_t number) const { return items_[number].config.container; }
  const TableProgress& progress(size_t number) const { return progress_[number]; }
  const PublishedOids& published(size_t number) const { return published_[number]; }

  // By TablesOf() of each table.
  const std::vector<ColumnTypes>& types() const { return types_; }

  // The containers that the sidecar does not have, with the reason.
  const std::map<std::string, std::string>& left_out() const { return left_out_; }
  // NOT_FOUND if the sidecar has none of the containers.
  absl::Status status() const { return definitions_.empty() ? missing_ : absl::OkStatus(); }

 private:
  absl::Status LoadOne(PatientQuery& database, const Config& config, size_t number,
                       TableProgress noted);

  std::vector<TableDefinition> definitions_;
  std::vector<TableDefinition> items_;
  std::vector<std::string> create_times_;  // of the containers
  std::vector<PublishedOids> published_;
  std::vector<TableProgress> progress_;
  std::vector<ColumnTypes> types_;
  std::map<std::string, std::string> left_out_;
  absl::Status missing_;
  uint64_t containers_version_ = 0;
};

// The entries of `table` among all of a publication (ReadPublished()).
CapturedTables::PublishedOids PublishedOidsOf(
    const TableDefinition& table, const absl::flat_hash_map<uint32_t, uint32_t>& published);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_CAPTURED_TABLES_H_
