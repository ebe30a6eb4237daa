#include "client/postgres/capture/tables/table_scan.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "client/postgres/row/row_key.h"
#include "client/postgres/sql/connect/sql_error.h"
#include "service/base/status_macros.h"

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
  if (IsFaultOfRow(rows.status())) {
    return limit > 1 ? ReadPage(database, after, limit / 2, lsn, now, take)
                     : PassRow(database, key, lsn, rows.status(), take);
  }
  TTL_RETURN_IF_ERROR(rows.status());
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
    if (!row.texts.matches_where) continue;  // if tracked, the search for ghosts untracks it
    take(ReportRow(table_, row.texts,
                   {.xmin = row.xmin, .lsn = lsn, .commit_time = row.commit_time}, now));
  }
  return page;
}

absl::StatusOr<TableScan::Page> TableScan::PassRow(PatientQuery& database,
                                                   const std::vector<Connection::Parameter>& after,
                                                   uint64_t lsn, const absl::Status& why,
                                                   absl::FunctionRef<void(RowReports)> take) const {
  TTL_ASSIGN_OR_RETURN(
      const auto found,
      database.Query(after.empty() ? select_.FirstKey() : select_.NextKey(), after));
  Page page{.rows = found.rows(), .is_last = found.rows() == 0, .last_key = {}};
  if (page.is_last) return page;
  for (Connection::Parameter& text : select_.KeyOf(found, 0)) {
    page.last_key.push_back(*std::move(text));
  }
  std::vector<absl::string_view> texts;
  for (int i = 0; i < found.columns(); ++i) texts.push_back(found.Text(0, i));
  const auto id = absl::MakeConstSpan(texts).subspan(table_.partition_key.size());
  const auto partition_key = absl::MakeConstSpan(texts).first(table_.partition_key.size());
  take({{Report::Gone(JoinKey(partition_key), JoinKey(id), lsn)},
        absl::InvalidArgumentError(absl::StrCat("it cannot be read: ", SqlMessage(why))),
        Exemption::kNone});
  return page;
}

}  // namespace ttl::postgres
