#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_CHANGED_ROWS_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_CHANGED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/stream/row_change.h"
#include "client/postgres/capture/tables/key_lookup.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Rows of a table with `where` that were written in the stream and wait for their lookup. Not
// thread-safe.
class ChangedRows {
 public:
  using Take = absl::FunctionRef<void(RowReports)>;

  // `table` must outlive it.
  explicit ChangedRows(const TableDefinition& table) : table_(table), lookup_(table) {}

  // The transaction that commits at `lsn`, after all previous ones, wrote the row of this key.
  void Add(ItemKeyText key, uint64_t lsn) { lsns_[std::move(key)] = lsn; }
  size_t size() const { return lsns_.size(); }

  // Reports the current state of each row, and then forgets all rows. REQUIRES: queries see every
  // commit that was added. ABORTED: the table is locked; retry everything later.
  absl::Status LookUp(PatientQuery& database, absl::Time now, Take take);

 private:
  absl::Status LookUp(PatientQuery& database, absl::Span<const ItemKeyText> keys, absl::Time now,
                      Take take);
  RowReports Gone(const ItemKeyText& key, const absl::Status& untrackable) const;

  const TableDefinition& table_;
  const KeyLookup lookup_;
  absl::flat_hash_map<ItemKeyText, uint64_t> lsns_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_CHANGED_ROWS_H_
