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
#include "service/base/wall_clock.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {

// One ScanItems call. It reads pages of a table in key order, each by a short query. Not
// thread-safe.
class TableScan {
 public:
  static constexpr int kMaxItems = 1000;  // in one message
  static constexpr size_t kMaxTokenBytes = 4096;

  // Receives a message and returns whether to continue.
  using Take = absl::FunctionRef<bool(const v1::ScanItemsResponse&)>;

  // All must outlive the scan.
  TableScan(Connection& connection, const StoreTable& table, const VisiblePosition& position,
            const WallClock& clock)
      : connection_(connection), table_(table), position_(position), clock_(clock) {}

  // Also OK if `take` ended the scan. INVALID_ARGUMENT for a bad token or limit, UNAVAILABLE if the
  // database cannot be read.
  absl::Status Run(const v1::ScanItemsRequest& request, Take take);

  int64_t rows() const { return rows_; }
  // Rows that were omitted because they cannot be tracked.
  int64_t untrackable() const { return untrackable_; }

 private:
  using Key = std::vector<Connection::Parameter>;

  absl::StatusOr<QueryResult> ReadPage(const std::optional<Key>& after, int& limit);
  // Sets the items and, unless the page is the last, the token. The token stays empty if no key of
  // the page fits into one.
  void Read(const QueryResult& page, int limit, uint64_t sequence, v1::ScanItemsResponse& message);
  // Absent: unknown.
  absl::StatusOr<std::optional<int64_t>> EstimateItems();
  // Identifies the files of a table whose _ts is the commit time; the text differs after a rewrite.
  // Empty for other tables. UNAVAILABLE while rows have unknown times because the table was
  // rewritten.
  absl::StatusOr<std::string> FilesOfKnownTimes();

  Connection& connection_;
  const StoreTable& table_;
  const VisiblePosition& position_;
  const WallClock& clock_;
  int64_t rows_ = 0;
  int64_t untrackable_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_TABLE_SCAN_H_
