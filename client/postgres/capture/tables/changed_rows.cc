// Whether a row fulfils the table's `where` is for the server to say. The stream cannot be asked: a
// row filter of a publication may name columns of the identity only, and a value that is stored out
// of line and was not changed is not in the WAL. So a row that was written is read again by its
// key, many in one query, and reported as it is then.
//
// That may be a later version than the one that the stream told of. It is reported with the
// position of the earlier change: the later change follows in the stream, is looked up too, and
// carries the higher position. It is never an earlier version, since a look-up waits until queries
// see every transaction that was taken from the stream. A row that is gone, or does not fulfil the
// condition any more, is reported as gone. A position is acknowledged only after the look-ups
// before it are reported: after a crash the stream tells of the changes again.
//
// Memory is bounded by the session, which takes nothing from the stream while too many rows wait.
#include "client/postgres/capture/tables/changed_rows.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/connect/sql_error.h"

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
  if (!asked.ok()) return asked;
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
