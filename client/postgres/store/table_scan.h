#ifndef TTL_CLIENT_POSTGRES_STORE_TABLE_SCAN_H_
#define TTL_CLIENT_POSTGRES_STORE_TABLE_SCAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/connect/query_result.h"
#include "client/postgres/store/store_table.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {

// One ScanItems: pages of a table in the order of its key, each a short query. One thread.
class TableScan {
 public:
  static constexpr int kMaxItems = 1000;  // in one message
  static constexpr size_t kMaxTokenBytes = 4096;

  // Takes a message, and says whether to go on.
  using Take = absl::FunctionRef<bool(const v1::ScanItemsResponse&)>;

  // All must outlive this.
  TableScan(Connection& connection, const StoreTable& table, const VisiblePosition& position)
      : connection_(connection), table_(table), position_(position) {}

  // OK also if `take` ended it. INVALID_ARGUMENT for a bad token or limit, UNAVAILABLE if the
  // database cannot be read.
  absl::Status Run(const v1::ScanItemsRequest& request, Take take);

  int64_t rows() const { return rows_; }
  // Rows that cannot be tracked, and so were left out.
  int64_t untrackable() const { return untrackable_; }

 private:
  using Key = std::vector<Connection::Parameter>;

  absl::StatusOr<QueryResult> ReadPage(const std::optional<Key>& after, int& limit);
  // Fills in the items and, unless the page is the last, the token. The token stays empty if
  // no key of the page fits into one.
  void Read(const QueryResult& page, int limit, uint64_t sequence, v1::ScanItemsResponse& message);
  // Absent: not known.
  absl::StatusOr<std::optional<int64_t>> EstimateItems();
  // Of a table by commit time: its files, in words that are others after a rewrite; else empty.
  // UNAVAILABLE while times of rows are not known, since the table was rewritten.
  absl::StatusOr<std::string> FilesOfKnownTimes();

  Connection& connection_;
  const StoreTable& table_;
  const VisiblePosition& position_;
  int64_t rows_ = 0;
  int64_t untrackable_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_TABLE_SCAN_H_
