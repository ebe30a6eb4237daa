#ifndef TTL_CLIENT_POSTGRES_LOAD_USAGE_METER_H_
#define TTL_CLIENT_POSTGRES_LOAD_USAGE_METER_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"

namespace ttl::postgres {

// Computes how many rows other sessions have touched since the last reading, from two growing
// counters: all rows touched in a table, and those that we touched. PostgreSQL's counter lags ours
// by about a second, so rows of ours that it does not have yet are subtracted later. Pure.
class UsageMeter {
 public:
  // Returns the rows that others touched since the last reading, `elapsed` ago; 0 for the first
  // reading, and after the statistics were reset.
  int64_t Read(int64_t all, int64_t own, absl::Duration elapsed);

 private:
  struct Reading {
    int64_t all;
    int64_t own;
  };
  std::optional<Reading> last_;
  double owed_ = 0;  // rows of ours that are not in `all` yet
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_LOAD_USAGE_METER_H_
