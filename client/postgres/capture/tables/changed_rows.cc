// Only the server can evaluate a table's `where`. The stream cannot filter by it: a publication's
// row filter may only use columns of the replica identity, and the WAL lacks an unchanged value
// that is stored out of line. So a written row is read again by its key, many per query, and
// reported as it is then.
//
// That may be a later version than the streamed one. It is reported with the LSN of the earlier
// change: the later change follows in the stream, is looked up, too, and has the higher LSN. It is
// never an earlier version, because a lookup waits until queries see every transaction received
// from the stream. A row that is gone or no longer satisfies the condition is reported as gone. An
// LSN is acknowledged only after the lookups before it are reported, so that the changes are
// streamed again after a crash.
//
// The session bounds the memory: it does not read the stream while too many rows wait.
#include "client/postgres/capture/tables/changed_rows.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/sql_error.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
absl::Status ChangedRows::LookUp(PatientQuery& database, absl::Time now, Take take) {
  std::vector<ItemKeyText> keys;
  keys.reserve(lsns_.size());
  for (const auto& [key, lsn] : lsns_) keys.push_back(key);
  absl::Status status = LookUp(database, keys, now, take);
  if (status.ok()) lsns_.clear();
  return status;
}

absl::Status ChangedRows::LookUp(PatientQuery& database, absl::Span<const ItemKeyText> keys,
                                 absl::Time now, Take take) {
  if (keys.empty()) return absl::OkStatus();
  absl::flat_hash_map<ItemKeyText, RowReports> found;
  absl::Status asked = lookup_.Read(database, keys, [&](ItemKeyText key, const SelectedRow& row) {
    const auto lsn = lsns_.find(key);
    if (lsn == lsns_.end()) return;
    RowReports reports =
        ReportRow(table_, row.texts,
                  {.xmin = row.xmin, .lsn = lsn->second, .commit_time = row.commit_time}, now);
    found.insert_or_assign(std::move(key), std::move(reports));
  });
  if (IsFaultOfRow(asked)) {
    if (keys.size() == 1) {
      take(Gone(keys[0], absl::InvalidArgumentError(
                             absl::StrCat("it cannot be read: ", SqlMessage(asked)))));
      return absl::OkStatus();
    }
    const size_t half = keys.size() / 2;
    asked = LookUp(database, keys.subspan(0, half), now, take);
    return asked.ok() ? LookUp(database, keys.subspan(half), now, take) : asked;
  }
  TTL_RETURN_IF_ERROR(asked);
  for (const ItemKeyText& key : keys) {
    const auto place = found.find(key);
    take(place == found.end() ? Gone(key, absl::OkStatus()) : std::move(place->second));
  }
  return absl::OkStatus();
}

RowReports ChangedRows::Gone(const ItemKeyText& key, const absl::Status& untrackable) const {
  return {{Report::Gone(key.first, key.second, lsns_.at(key))}, untrackable, Exemption::kNone};
}

}  // namespace ttl::postgres
