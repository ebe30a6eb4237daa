#ifndef TTL_CLIENT_POSTGRES_STORE_PRIMARY_STORE_H_
#define TTL_CLIENT_POSTGRES_STORE_PRIMARY_STORE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/config/config.h"
#include "client/postgres/row/visible_position.h"
#include "client/postgres/sql/connect/connection_pool.h"
#include "client/postgres/sql/table_definition.h"
#include "client/postgres/store/deletes/batch_fit.h"
#include "client/postgres/store/deletes/group_pieces.h"
#include "client/postgres/store/deletes/large_groups.h"
#include "client/postgres/store/store_counters.h"
#include "client/postgres/store/store_table.h"
#include "service/base/wall_clock.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {

// Implements PrimaryStoreService on PostgreSQL tables, without the transport. The role needs
// SELECT, UPDATE (for FOR UPDATE) and DELETE. Every call ends soon after its deadline, even if the
// database hangs. Thread-safe.
class PrimaryStore {
 public:
  static constexpr int kMaxBatchItems = 1000;
  // Concurrent DeleteItems calls; the sidecar makes a few.
  static constexpr size_t kDeleteConnections = 4;
  // Maximum time that a DeleteItems waits for the sidecar to learn that a row is gone.
  static constexpr absl::Duration kMaxReportWait = absl::Seconds(1);
  // Maximum time that a scan waits until queries see every commit that the sidecar has.
  static constexpr absl::Duration kMaxVisibleWait = absl::Seconds(10);

  // Returns how long deletes must pause; absent: they need not.
  using YieldRule = std::function<std::optional<absl::Duration>()>;

  // Returns the LSN up to which the sidecar has all commits.
  using ReportedRule = std::function<uint64_t()>;

  // `position` must outlive the store. Does not connect yet. Calls for a container of `config` that
  // is not among `tables` return FAILED_PRECONDITION.
  PrimaryStore(const Config& config, const std::vector<TableDefinition>& tables,
               const VisiblePosition& position, YieldRule yield_rule, ReportedRule reported_rule,
               WallClock clock);

  PrimaryStore(const PrimaryStore&) = delete;
  PrimaryStore& operator=(const PrimaryStore&) = delete;

  absl::StatusOr<v1::GetStoreInfoResponse> GetStoreInfo(absl::Time deadline);

  // NOT_FOUND for a container that is not configured, INVALID_ARGUMENT for a request that the API
  // does not allow, FAILED_PRECONDITION if its store_id is that of another store, UNAVAILABLE if
  // the database fails; the outcome of the batch is then unknown.
  absl::StatusOr<v1::DeleteItemsResponse> DeleteItems(const v1::DeleteItemsRequest& request,
                                                      absl::Time deadline);

  // Passes each message to `take`, which returns whether to continue. Polls `is_cancelled` while it
  // waits for the database to catch up.
  absl::Status ScanItems(const v1::ScanItemsRequest& request, absl::Time deadline,
                         absl::FunctionRef<bool()> is_cancelled,
                         absl::FunctionRef<bool(const v1::ScanItemsResponse&)> take);

  // Deletes a piece of a condemned group of each container, see group_condemned.h, or only counts
  // the groups while deletes must pause. Returns how long to wait before the next call. Takes
  // seconds at most.
  absl::Duration DeletePieces();

  // Null for a container that is not configured. Valid as long as the store.
  const StoreCounters* CountersOf(absl::string_view container) const;

  // Aborts running calls by closing their connections, and refuses new ones.
  void Close();

 private:
  struct Served {
    explicit Served(const TableDefinition& definition);
    const StoreTable table;
    std::optional<GroupPieces> pieces;  // of groups that can be condemned only
    BatchFit fit;
    LargeGroups large;
    BatchFit piece_fit;
    StoreCounters counters;
    std::atomic<int64_t> slow_said_at = 0;  // Unix seconds
  };

  // What a call for one container did.
  struct Worked {
    absl::Duration time;
    bool is_idle = true;  // there is nothing that could be deleted right afterwards
  };
  absl::StatusOr<Worked> DeletePiece(Served& served);
  // Only counts the condemned groups.
  absl::StatusOr<Worked> CountCondemned(Served& served);
  void TellPiecesFail(absl::string_view container, const absl::Status& status);

  // Counts the outcomes of a call.
  void Count(Served& served, const v1::DeleteItemsResponse& response);

  absl::StatusOr<Served*> Find(const std::string& container);
  absl::StatusOr<v1::DeleteItemsResponse> DeleteFrom(Served& served,
                                                     const v1::DeleteItemsRequest& request,
                                                     absl::Time deadline);
  absl::StatusOr<v1::DeleteItemsResponse> RunDeletes(Served& served,
                                                     const v1::DeleteItemsRequest& request,
                                                     absl::Time deadline, uint64_t& gone_by);
  // Waits briefly for the sidecar to have all commits up to `lsn`; returns whether it has.
  bool AwaitReported(uint64_t lsn, absl::Time deadline) const;
  // Waits until every new snapshot sees all commits that the sidecar had when this was called, and
  // all up to `least`.
  absl::Status AwaitVisible(Connection& connection, uint64_t least, absl::Time deadline,
                            absl::FunctionRef<bool()> is_cancelled);

  const absl::Duration lock_timeout_;
  const absl::Duration statement_timeout_;
  const VisiblePosition& position_;
  const YieldRule yield_rule_;
  const ReportedRule reported_rule_;
  const WallClock clock_;
  std::map<std::string, std::unique_ptr<Served>, std::less<>> tables_;  // by container
  std::set<std::string> left_out_;           // configured containers without a usable table
  std::atomic<int64_t> pieces_said_at_ = 0;  // Unix seconds
  std::atomic<bool> is_closed_ = false;
  ConnectionPool deletes_;
  ConnectionPool scans_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_PRIMARY_STORE_H_
