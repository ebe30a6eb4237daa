#ifndef TTL_CLIENT_POSTGRES_CAPTURE_SCAN_DISPLAY_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_SCAN_DISPLAY_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "client/postgres/capture/capture_status.h"

namespace ttl::postgres {

// How far a first scan is: "orders: 1200000 of about 5000000 rows (24 %), 150000 rows/s, 25s
// left". `rate` in rows a second; 0: not known.
std::string ScanText(const TableStatus& table, double rate);

// The same with a bar in front, as wide as a terminal's line.
std::string ScanBar(const TableStatus& table, double rate);

// Shows how far the first scan of a table is: on a terminal by a bar that is drawn again and
// again, else by a line in the log every ten seconds. For one thread.
class ScanDisplay {
 public:
  explicit ScanDisplay(bool is_terminal) : is_terminal_(is_terminal) {}

  // To be called as often as one likes while a scan goes on.
  void Show(const TableStatus& table, absl::Time now);
  // It has ended, or broken off.
  void Finish(absl::Time now);

 private:
  double Rate(absl::Time now) const;

  const bool is_terminal_;
  TableStatus table_;       // as shown last
  std::string scanning_;    // its container; empty: none
  int64_t first_rows_ = 0;  // when the scan was first shown
  absl::Time first_time_;
  absl::Time last_shown_ = absl::InfinitePast();
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_SCAN_DISPLAY_H_
