#ifndef TTL_CLIENT_POSTGRES_PROGRAM_TABLE_WATCH_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_TABLE_WATCH_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/postgres/config/config.h"
#include "client/postgres/program/followed_tables.h"
#include "client/postgres/sql/check/fault_times.h"
#include "client/postgres/sql/check/slot_state.h"
#include "client/postgres/sql/connect/connection_pool.h"
#include "service/base/background_loop.h"
#include "service/base/mutex.h"
#include "service/base/wake_signal.h"
#include "service/base/wall_clock.h"

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
  TableWatch(const Config& config, FollowedTables followed, std::function<bool()> is_in_trouble,
             WallClock clock);
  // Returns promptly, even if the database hangs.
  ~TableWatch();
  TableWatch(const TableWatch&) = delete;
  TableWatch& operator=(const TableWatch&) = delete;

  // Whether the tables that can be followed, or their definitions, have changed, so that following
  // must restart.
  bool has_changed() const;
  WatchedState state() const;

 private:
  // Looks if it is time to, and logs an error.
  void Step();
  absl::Duration PauseBeforeLook() const;
  absl::Status Look();
  absl::StatusOr<CatalogReport> CheckLeftOut(Connection& connection, CatalogReport report);
  // Stores `holders`, and logs an old transaction once.
  void SetHolders(std::vector<SlotHolder> holders);
  absl::Status SetFaults(Connection& connection, const FollowedTables& found);

  const Config& config_;
  const FollowedTables followed_;
  const std::function<bool()> is_in_trouble_;
  const WallClock clock_;
  ConnectionPool pool_;

  mutable Mutex mutex_;
  bool has_changed_ ABSL_GUARDED_BY(mutex_) = false;
  WatchedState state_ ABSL_GUARDED_BY(mutex_);

  // The following are used by loop_ only.
  std::string logged_xid_;                        // xid of the old transaction that was logged last
  std::map<std::string, absl::Time> first_seen_;  // for UseFirstSeen()
  // When to check again a table that is left out because of its rows or its `where`, by container.
  std::map<std::string, absl::Time> next_check_;
  FaultTimes recorded_;  // as of the last check
  bool has_recorded_ = false;
  absl::Time last_look_;

  WakeSignal wake_;
  BackgroundLoop loop_;  // declared last: uses all other members
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_TABLE_WATCH_H_
