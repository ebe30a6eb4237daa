#include "client/postgres/capture/tables/table_progress.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/postgres/sql/connect/quoting.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

// Returns one row per text of a key, so that array text need not be parsed.
std::string LoadStatement(const std::string& schema) {
  return absl::StrCat(
      "SELECT p.container, p.scan_done, p.scanned, p.ghosts_after, p.ghosts_done, "
      "array_to_string(p.partitions, ','), p.source, u.text FROM ",
      QuoteQualified(schema, "progress"),
      " AS p LEFT JOIN LATERAL unnest(p.scan_after) WITH ORDINALITY AS u(text, n) ON true "
      "ORDER BY p.container, u.n");
}

std::optional<std::vector<uint32_t>> Numbers(std::optional<absl::string_view> text) {
  if (!text.has_value()) return std::nullopt;
  std::vector<uint32_t> numbers;
  for (const absl::string_view number : absl::StrSplit(*text, ',', absl::SkipEmpty())) {
    if (!absl::SimpleAtoi(number, &numbers.emplace_back())) return std::nullopt;
  }
  return numbers;
}

TableProgress Read(const QueryResult& rows, int row) {
  TableProgress progress;
  progress.scan_done = rows.Bool(row, 1);
  progress.scanned = rows.Number(row, 2);
  progress.ghosts_after = std::string(rows.Text(row, 3));
  progress.ghosts_done = rows.Bool(row, 4);
  progress.partitions = Numbers(rows.Value(row, 5));
  progress.source = std::string(rows.Text(row, 6));
  return progress;
}

}  // namespace

absl::StatusOr<std::map<std::string, TableProgress>> LoadProgress(PatientQuery& database,
                                                                  const std::string& schema) {
  TTL_ASSIGN_OR_RETURN(const auto rows, database.Query(LoadStatement(schema)));
  std::map<std::string, TableProgress> all;
  for (int row = 0; row < rows.rows(); ++row) {
    const auto [progress, is_new] = all.try_emplace(std::string(rows.Text(row, 0)));
    if (is_new) progress->second = Read(rows, row);
    if (const auto text = rows.Value(row, 7); text.has_value()) {
      progress->second.scan_after.emplace_back(*text);
    }
  }
  return all;
}

absl::Status ForgetProgress(PatientQuery& database, const std::string& schema,
                            const std::string& container) {
  return database
      .Query(
          absl::StrCat("DELETE FROM ", QuoteQualified(schema, "progress"), " WHERE container = $1"),
          {container})
      .status();
}

absl::Status StoreProgress(PatientQuery& database, const std::string& schema,
                           const std::string& container, const TableProgress& progress) {
  std::vector<Connection::Parameter> parameters = {
      container,
      progress.scan_done ? "t" : "f",
      absl::StrCat(progress.scanned),
      progress.ghosts_after,
      progress.ghosts_done ? "t" : "f",
      std::nullopt,
      progress.source,
  };
  if (progress.partitions.has_value()) {
    parameters[5] = absl::StrCat("{", absl::StrJoin(*progress.partitions, ","), "}");
  }
  std::vector<std::string> key;
  for (const std::string& text : progress.scan_after) {
    parameters.emplace_back(text);
    key.push_back(absl::StrCat("$", parameters.size(), "::text"));
  }
  const std::string scan_after =
      key.empty() ? "NULL" : absl::StrCat("ARRAY[", absl::StrJoin(key, ", "), "]");
  return database
      .Query(absl::StrCat("INSERT INTO ", QuoteQualified(schema, "progress"),
                          " (container, scan_done, scanned, ghosts_after, ghosts_done, "
                          "partitions, source, scan_after) VALUES ($1, $2::boolean, $3::bigint, "
                          "$4, $5::boolean, $6::oid[], $7, ",
                          scan_after,
                          ") ON CONFLICT (container) DO UPDATE SET "
                          "(scan_done, scanned, ghosts_after, ghosts_done, partitions, source, "
                          "scan_after) = (excluded.scan_done, excluded.scanned, "
                          "excluded.ghosts_after, excluded.ghosts_done, excluded.partitions, "
                          "excluded.source, excluded.scan_after)"),
             parameters)
      .status();
}

}  // namespace ttl::postgres
