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

// What a TableWatch saw at its last look.
struct WatchedState {
  std::string fault;                                // FollowedTables::fault
  absl::Time fault_since = absl::InfiniteFuture();  // when a look first found one
  std::vector<SlotHolder> holders;
};

// Looks at the catalogue now and then, by a thread and a connection of its own, whether the
// tables that can be followed are still the same, and what is installed is there. Thread-safe.
class TableWatch {
 public:
  // `followed` is what is followed now. `is_in_trouble` says whether to look soon; it is called
  // by another thread until the destructor has returned.
  TableWatch(const Config& config, FollowedTables followed, std::function<bool()> is_in_trouble);
  // Within moments, whatever the database does.
  ~TableWatch();
  TableWatch(const TableWatch&) = delete;
  TableWatch& operator=(const TableWatch&) = delete;

  // Whether others can be followed now, or the same in another shape: it is time to begin anew.
  bool has_changed() const;
  WatchedState state() const;

 private:
  void Run();
  absl::Duration PauseBeforeLook() const;
  absl::Status Look();
  absl::StatusOr<CatalogReport> CheckLeftOut(Connection& connection, CatalogReport report);
  // Takes in what the database said, and logs an old transaction once.
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
  std::string logged_xid_;  // of the old transaction that the log has

  std::map<std::string, absl::Time> first_seen_;  // UseFirstSeen(); of the thread

  // When tables that are left out for what their rows or their `where` say are due to be looked at
  // again, by container; of the thread.
  std::map<std::string, absl::Time> next_check_;

  FaultTimes recorded_;        // as of the last look; of the thread
  bool has_recorded_ = false;  // of the thread

  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_TABLE_WATCH_H_
