#ifndef TTL_CLIENT_POSTGRES_LOAD_USAGE_METER_H_
#define TTL_CLIENT_POSTGRES_LOAD_USAGE_METER_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"

namespace ttl::postgres {

// Turns two counters that only grow, of all rows touched in a table and of those that we touched,
// into what others have used since the last reading. PostgreSQL's counter lags ours by a second or
// so: what is ours and not yet in it is taken off later. Pure.
class UsageMeter {
 public:
  // The rows that others touched since the last reading, `elapsed` ago; 0 for the first one,
  // and after the statistics were reset.
  int64_t Read(int64_t all, int64_t own, absl::Duration elapsed);

 private:
  struct Reading {
    int64_t all;
    int64_t own;
  };
  std::optional<Reading> last_;
  double owed_ = 0;  // of ours, not yet seen in the rows of all
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_LOAD_USAGE_METER_H_
