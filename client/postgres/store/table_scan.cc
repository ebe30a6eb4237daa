#include "client/postgres/store/table_scan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/postgres/row/row_item.h"
#include "client/postgres/sql/connect/sql_error.h"
#include "client/postgres/sql/group.h"
#include "client/postgres/sql/held_times.h"
#include "client/postgres/store/page_token.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

absl::Status Unavailable(const absl::Status& error) {
  return absl::UnavailableError(absl::StrCat("the database: ", error.message()));
}

}  // namespace

absl::Status TableScan::Run(const v1::ScanItemsRequest& request, Take take) {
  if (request.max_items() < 1) return absl::InvalidArgumentError("max_items must be 1 or more");
  std::optional<Key> after;
  if (!request.page_token().empty()) {
    TTL_ASSIGN_OR_RETURN(after, DecodePageToken(request.page_token(), table_.select.key_columns()));
  }
  TTL_ASSIGN_OR_RETURN(const auto estimate, EstimateItems());

  // Read before and after each page: if the files are unchanged, so are the held times.
  auto files = FilesOfKnownTimes();
  TTL_RETURN_IF_ERROR(files.status());
  int left = request.max_items();
  bool is_last = false;
  while (left > 0 && !is_last) {
    int limit = std::min(left, kMaxItems);
    // Read before the query, whose result then has every change up to this LSN.
    const uint64_t sequence = position_.Get();
    TTL_ASSIGN_OR_RETURN(const auto page, ReadPage(after, limit));
    auto files_after = FilesOfKnownTimes();
    TTL_RETURN_IF_ERROR(files_after.status());
    if (*files != *files_after) {
      files = std::move(files_after);
      continue;
    }
    v1::ScanItemsResponse message;
    Read(page, limit, sequence, message);
    is_last = page.rows() < limit;
    if (page.rows() > 0) after = table_.select.KeyOf(page, page.rows() - 1);
    // A message without a token would mean that nothing follows.
    if (!is_last && message.next_page_token().empty()) continue;
    if (estimate.has_value()) message.set_estimated_items(*estimate);
    left -= page.rows();  // with `where`, most rows of a page may be excluded
    if (!take(message)) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::StatusOr<QueryResult> TableScan::ReadPage(const std::optional<Key>& after, int& limit) {
  const auto query = [&](const std::string& first, const std::string& next) {
    return after.has_value() ? connection_.Query(next, *after) : connection_.Query(first);
  };
  const RowSelect& select = table_.select;
  auto page = query(select.FirstPage(limit), select.NextPage(limit));
  while (IsFaultOfRow(page.status()) && limit > 1) {
    limit /= 2;
    page = query(select.FirstPage(limit), select.NextPage(limit));
  }
  // Skip a row that cannot be read.
  if (IsFaultOfRow(page.status())) page = query(select.FirstKey(), select.NextKey());
  if (page.ok()) return page;
  // The token supplies all parameters, so the error is in the token.
  if (absl::IsInvalidArgument(page.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat("page_token is none of this table: ", page.status().message()));
  }
  return Unavailable(page.status());
}

void TableScan::Read(const QueryResult& page, int limit, uint64_t sequence,
                     v1::ScanItemsResponse& message) {
  const absl::Time now = clock_();
  SelectedRow row;
  const bool has_keys_only = page.columns() < table_.select.width();
  for (int i = 0; i < page.rows(); ++i) {
    ++rows_;
    if (has_keys_only) {
      ++untrackable_;
      continue;
    }
    table_.select.Read(page, i, row);
    if (ExemptionOf(table_.definition, row.texts) != Exemption::kNone) continue;
    auto item = RowToItem(table_.definition, row.texts, {row.xmin, sequence, row.commit_time}, now);
    if (item.ok()) {
      *message.add_items() = *std::move(item);
    } else {
      ++untrackable_;
    }
  }
  if (page.rows() < limit) return;
  for (int i = page.rows() - 1; i >= 0 && message.next_page_token().empty(); --i) {
    std::string token = EncodePageToken(table_.select.KeyOf(page, i));
    if (token.size() <= kMaxTokenBytes) message.set_next_page_token(std::move(token));
  }
}

absl::StatusOr<std::string> TableScan::FilesOfKnownTimes() {
  const TableDefinition& table = table_.definition;
  if (table.ts_source != TsSource::kCommitTime || table.own_schema.empty()) return std::string();
  const auto answer = connection_.Query(
      absl::StrCat("SELECT coalesce(bool_or(", IsInDoubt(table.own_schema),
                   "), false), coalesce(string_agg(t.tableoid || ' ' || "
                   "pg_relation_filenode(t.tableoid), ', ' ORDER BY t.tableoid), '') FROM pg_class "
                   "AS c, LATERAL (SELECT c.oid AS tableoid) AS t WHERE c.oid = $1::oid OR c.oid "
                   "IN (SELECT relid FROM pg_partition_tree($1::oid))"),
      {absl::StrCat(table.oid)});
  if (!answer.ok()) return Unavailable(answer.status());
  if (!answer->Bool(0, 0)) return std::string(answer->Text(0, 1));
  return absl::UnavailableError(
      absl::StrCat("table ", table.config.schema, ".", table.config.table,
                   " was rewritten; the times of its rows are being held"));
}

absl::StatusOr<std::optional<int64_t>> TableScan::EstimateItems() {
  if (IsGroup(table_.definition)) return std::nullopt;  // the statistics count rows
  const auto answer = connection_.Query(
      "SELECT sum(reltuples)::bigint, coalesce(bool_or(reltuples < 0), true) FROM pg_class "
      "WHERE relkind = 'r' AND "
      "(oid = $1::oid OR oid IN (SELECT relid FROM pg_partition_tree($1::oid)))",
      {absl::StrCat(table_.definition.oid)});
  if (!answer.ok()) return Unavailable(answer.status());
  if (answer->Bool(0, 1)) return std::nullopt;
  return answer->Number(0, 0);
}

}  // namespace ttl::postgres
