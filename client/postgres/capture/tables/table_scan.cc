#include "client/postgres/capture/tables/table_scan.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ttl::postgres {

TableScan::TableScan(TableDefinition table, std::string restriction)
    : table_(std::move(table)), select_(table_, std::move(restriction)) {}

TableScan TableScan::OfPartition(const TableDefinition& table, uint32_t partition,
                                 absl::string_view bounds) {
  const std::string is_in = absl::StrCat("t.tableoid = ", partition);
  return TableScan(table, bounds.empty() ? is_in : absl::StrCat(is_in, " AND (", bounds, ")"));
}

absl::StatusOr<TableScan::Page> TableScan::ReadPage(
    PatientQuery& database, const std::vector<std::string>& after, int limit, uint64_t lsn,
    absl::Time now, absl::FunctionRef<void(RowReports)> take) const {
  const std::vector<Connection::Parameter> key(after.begin(), after.end());
  const auto rows =
      database.Query(key.empty() ? select_.FirstPage(limit) : select_.NextPage(limit), key);
  if (!rows.ok()) return rows.status();
  Page page{.rows = rows->rows(), .is_last = rows->rows() < limit, .last_key = {}};
  if (page.rows == 0) return page;
  for (Connection::Parameter& text : select_.KeyOf(*rows, page.rows - 1)) {
    page.last_key.push_back(*std::move(text));
  }
  if (page.last_key == after) {
    return absl::FailedPreconditionError(
        absl::StrCat("table ", table_.config.schema, ".", table_.config.table,
                     ": reading does not get past a key; the types of its columns have changed, "
                     "so start ttl-postgres again"));
  }
  SelectedRow row;
  for (int i = 0; i < page.rows; ++i) {
    select_.Read(*rows, i, row);
    take(ReportRow(table_, row.texts,
                   {.xmin = row.xmin, .lsn = lsn, .commit_time = row.commit_time}, now));
  }
  return page;
}

}  // namespace ttl::postgres
