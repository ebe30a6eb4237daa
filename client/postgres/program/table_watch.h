#ifndef TTL_CLIENT_POSTGRES_PROGRAM_TABLE_WATCH_H_
#define TTL_CLIENT_POSTGRES_PROGRAM_TABLE_WATCH_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/postgres/config/config.h"
#include "client/postgres/program/followed_tables.h"
#include "client/postgres/sql/connect/connection_pool.h"

namespace ttl::postgres {

// Looks at the catalogue now and then, by a thread and a connection of its own, whether the
// tables that can be followed are still the same. Thread-safe.
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
  // FollowedTables::fault, as of the last look.
  std::string fault() const;

 private:
  void Run();
  absl::Duration PauseBeforeLook() const;
  absl::Status Look();

  const Config& config_;
  const FollowedTables followed_;
  const std::function<bool()> is_in_trouble_;
  ConnectionPool pool_;

  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  // All guarded by mutex_.
  bool stop_ = false;
  bool has_changed_ = false;
  std::string fault_;

  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_PROGRAM_TABLE_WATCH_H_
