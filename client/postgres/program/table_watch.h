#ifndef TTL_CLIENT_POSTGRES_PROGRAM_TABLE_WATCH_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_TABLE_WATCH_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/postgres/config/config.h"
#include "client/postgres/program/followed_tables.h"
#include "client/postgres/sql/check/fault_times.h"
#include "client/postgres/sql/check/slot_state.h"
#include "client/postgres/sql/connect/connection_pool.h"

namespace ttl::postgres {

// The result of a TableWatch's last check.
struct WatchedState {
  std::string fault;                                // FollowedTables::fault
  absl::Time fault_since = absl::InfiniteFuture();  // when a check first found a fault
  std::vector<SlotHolder> holders;
};

// TableWatch checks periodically, on its own thread and connection, whether the tables that can be
// followed have changed and whether the installation is complete. Thread-safe.
class TableWatch {
 public:
  // `followed` are the tables followed now. `is_in_trouble` returns whether to check soon; another
  // thread calls it until the destructor returns.
  TableWatch(const Config& config, FollowedTables followed, std::function<bool()> is_in_trouble);
  // Returns promptly, even if the database hangs.
  ~TableWatch();
  TableWatch(const TableWatch&) = delete;
  TableWatch& operator=(const TableWatch&) = delete;

  // Whether the tables that can be followed, or their definitions, have changed, so that following
  // must restart.
  bool has_changed() const;
  WatchedState state() const;

 private:
  void Run();
  absl::Duration PauseBeforeLook() const;
  absl::Status Look();
  absl::StatusOr<CatalogReport> CheckLeftOut(Connection& connection, CatalogReport report);
  // Stores `holders`, and logs an old transaction once.
  void SetHolders(std::vector<SlotHolder> holders);
  absl::Status SetFaults(Connection& connection, const FollowedTables& found);

  const Config& config_;
  const FollowedTables followed_;
  const std::function<bool()> is_in_trouble_;
  ConnectionPool pool_;

  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  // All guarded by mutex_.
  bool stop_ = false;
  bool has_changed_ = false;
  WatchedState state_;
  std::string logged_xid_;  // xid of the old transaction that was logged last

  std::map<std::string, absl::Time> first_seen_;  // for UseFirstSeen(); used by thread_ only

  // When to check again a table that is left out because of its rows or its `where`, by container;
  // used by thread_ only.
  std::map<std::string, absl::Time> next_check_;

  FaultTimes recorded_;        // as of the last check; used by thread_ only
  bool has_recorded_ = false;  // used by thread_ only

  std::thread thread_;  // declared last: uses all other members
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_TABLE_WATCH_H_
