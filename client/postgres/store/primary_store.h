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
#include "client/postgres/store/store_counters.h"
#include "client/postgres/store/store_table.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {

// What the sidecar calls: PrimaryStoreService on tables of PostgreSQL, without the
// transport. Needs the rights to SELECT, UPDATE (for FOR UPDATE) and DELETE. Every call ends
// soon after its deadline, whatever the database does. Thread-safe.
class PrimaryStore {
 public:
  static constexpr int kMaxBatchItems = 1000;
  // DeleteItems at a time; the sidecar makes a few.
  static constexpr size_t kDeleteConnections = 4;
  // How long a DeleteItems waits until the sidecar knows that a row is gone.
  static constexpr absl::Duration kMaxReportWait = absl::Seconds(1);
  // How long a scan waits until the database shows what the sidecar knows.
  static constexpr absl::Duration kMaxVisibleWait = absl::Seconds(10);

  // For how long deletes are to leave the database alone; absent: they need not.
  using YieldRule = std::function<std::optional<absl::Duration>()>;

  // Up to which LSN the sidecar knows all commits.
  using ReportedRule = std::function<uint64_t()>;

  // `position` must outlive this. Does not connect yet. A container of `config` that is not among
  // `tables` is left out: its calls are FAILED_PRECONDITION.
  PrimaryStore(const Config& config, const std::vector<TableDefinition>& tables,
               const VisiblePosition& position, YieldRule yield_rule, ReportedRule reported_rule);

  PrimaryStore(const PrimaryStore&) = delete;
  PrimaryStore& operator=(const PrimaryStore&) = delete;

  absl::StatusOr<v1::GetStoreInfoResponse> GetStoreInfo(absl::Time deadline);

  // NOT_FOUND for a container that is not configured, INVALID_ARGUMENT for a request that the
  // API does not allow, FAILED_PRECONDITION if it is meant for another store_id, UNAVAILABLE if the
  // database cannot do it; the fate of the batch is unknown then.
  absl::StatusOr<v1::DeleteItemsResponse> DeleteItems(const v1::DeleteItemsRequest& request,
                                                      absl::Time deadline);

  // Gives the messages of one call to `take`, which says whether to go on. Asks
  // `is_cancelled` while it waits.
  absl::Status ScanItems(const v1::ScanItemsRequest& request, absl::Time deadline,
                         absl::FunctionRef<bool()> is_cancelled,
                         absl::FunctionRef<bool(const v1::ScanItemsResponse&)> take);

  // Null for a container that is not configured. Lives as long as this.
  const StoreCounters* CountersOf(absl::string_view container) const;

  // Ends calls under way by cutting their connections, and refuses later ones.
  void Close();

 private:
  struct Served {
    explicit Served(const TableDefinition& definition) : table(definition) {}
    const StoreTable table;
    BatchFit fit;
    StoreCounters counters;
    std::atomic<int64_t> slow_said_at = 0;  // Unix seconds
  };

  // The outcomes of a call.
  void Count(Served& served, const v1::DeleteItemsResponse& response);

  absl::StatusOr<Served*> Find(const std::string& container);
  absl::StatusOr<v1::DeleteItemsResponse> DeleteFrom(Served& served,
                                                     const v1::DeleteItemsRequest& request,
                                                     absl::Time deadline);
  absl::StatusOr<v1::DeleteItemsResponse> RunDeletes(Served& served,
                                                     const v1::DeleteItemsRequest& request,
                                                     absl::Time deadline, uint64_t& gone_by);
  // Whether the sidecar knows all commits up to `lsn`, which it is waited for for a moment.
  bool AwaitReported(uint64_t lsn, absl::Time deadline) const;
  // Until every new snapshot sees what the sidecar had been told when this was called, and all up
  // to `least`.
  absl::Status AwaitVisible(Connection& connection, uint64_t least, absl::Time deadline,
                            absl::FunctionRef<bool()> is_cancelled);

  const absl::Duration lock_timeout_;
  const absl::Duration statement_timeout_;
  const VisiblePosition& position_;
  const YieldRule yield_rule_;
  const ReportedRule reported_rule_;
  std::map<std::string, std::unique_ptr<Served>, std::less<>> tables_;  // by container
  std::set<std::string> left_out_;  // containers of the configuration without a table
  ConnectionPool deletes_;
  ConnectionPool scans_;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_PRIMARY_STORE_H_
