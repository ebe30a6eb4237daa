#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_KEY_LOOKUP_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_KEY_LOOKUP_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/row/row_select.h"
#include "client/postgres/sql/table_definition.h"

namespace ttl::postgres {

// Partition key and id of an item.
using ItemKeyText = std::pair<std::string, std::string>;

// Looks up which items have a row that satisfies the table's `where`, if there is one, or reads the
// rows.
class KeyLookup {
 public:
  explicit KeyLookup(const TableDefinition& table);

  // Returns the keys that have such a row. A key that cannot exist, whatever its bytes, has none.
  // Errors are those of Connection.
  absl::StatusOr<absl::flat_hash_set<ItemKeyText>> Existing(
      PatientQuery& database, absl::Span<const ItemKeyText> keys) const;

  // Passes each row of `keys` to `take`, whether or not it satisfies `where`; passes none on an
  // error.
  using Take = absl::FunctionRef<void(ItemKeyText, const SelectedRow&)>;
  absl::Status Read(PatientQuery& database, absl::Span<const ItemKeyText> keys, Take take) const;

 private:
  // A key as the texts of its columns.
  using Texts = std::vector<std::string>;

  // Returns the keys that can exist.
  std::vector<Texts> Split(absl::Span<const ItemKeyText> keys) const;
  std::vector<Connection::Parameter> Parameters(absl::Span<const Texts> keys) const;
  absl::Status Ask(PatientQuery& database, absl::Span<const Texts> keys,
                   absl::flat_hash_set<ItemKeyText>& existing) const;

  const size_t partition_key_columns_;
  const size_t id_columns_;
  const RowSelect select_;
  const std::string existing_statement_;
  const std::string read_statement_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_KEY_LOOKUP_H_
