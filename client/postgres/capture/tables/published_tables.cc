#include "client/postgres/capture/tables/published_tables.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/postgres/capture/tables/table_catalog.h"
#include "client/postgres/sql/group.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// `before` is what the publication had when the session began.
absl::Status CheckOne(PatientQuery& database, const std::string& publication,
                      const TableDefinition& table, const CapturedTables::PublishedOids& before,
                      const CapturedTables::PublishedOids& published, TableReading& reading) {
  const std::vector<const TableDefinition*> tables = TablesOf(table);
  for (const TableDefinition* one : tables) {
    TTL_RETURN_IF_ERROR(ReadColumnTypes(database, *one).status());
  }
  const auto missing = std::find(published.begin(), published.end(), 0u);
  if (missing == published.end() && published == before) return reading.CheckFiles();
  const auto changed = missing == published.end()
                           ? std::mismatch(published.begin(), published.end(), before.begin()).first
                           : missing;
  const TableConfig& config = tables[static_cast<size_t>(changed - published.begin())]->config;
  const std::string name = absl::StrCat(config.schema, ".", config.table);
  if (missing == published.end()) {
    return absl::FailedPreconditionError(absl::StrCat("table ", name, " was not in publication \"",
                                                      publication,
                                                      "\" for a time; it is read again"));
  }
  // Changes made until the table is published again are missing from the stream.
  TTL_RETURN_IF_ERROR(reading.ReadAgain(0));
  return absl::FailedPreconditionError(
      absl::StrCat("publication \"", publication, "\" does not have table ", name,
                   ", whose changes are lost: `ttl-postgres install` makes it"));
}

}  // namespace

absl::Status CheckPublished(PatientQuery& database, const std::string& publication,
                            const CapturedTables& tables, TableReadings& readings) {
  TTL_ASSIGN_OR_RETURN(const auto published, ReadPublished(database, publication));
  for (size_t i = 0; i < tables.size(); ++i) {
    const TableDefinition& table = tables.definitions()[i];
    const absl::Status status = CheckOne(database, publication, table, tables.published(i),
                                         PublishedOidsOf(table, published), readings.of(i));
    // The table is locked: check again later.
    if (!absl::IsAborted(status)) TTL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace ttl::postgres
