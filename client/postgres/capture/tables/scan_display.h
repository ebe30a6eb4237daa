#ifndef TTL_CLIENT_POSTGRES_CAPTURE_TABLES_SCAN_DISPLAY_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_TABLES_SCAN_DISPLAY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/postgres/capture/capture_status.h"
#include "spdlog/fwd.h"

namespace ttl::postgres {

// Describes the progress of a first scan: "orders: 1200000 of about 5000000 rows (24 %), 150000
// rows/s, 25s left". `rate` is in rows per second; 0: unknown.
std::string ScanText(const TableStatus& table, double rate);

// Describes the same in fewer than `columns` columns, so that a terminal of that width does not
// wrap: "[####............] orders: 24 % of about 5000000 rows, 150000 rows/s, 25s left". The bar
// uses the remaining space; if there is too little, the bar is omitted first, then the end of the
// text is cut.
std::string ScanBar(const TableStatus& table, double rate, int columns);

// Shows the progress of a table's first scan: on a terminal (standard error) by a bar that is
// redrawn in the same line, otherwise by a log line every ten seconds. A log line that is written
// meanwhile, by any thread, must erase the bar itself. Not thread-safe.
class ScanDisplay {
 public:
  explicit ScanDisplay(bool is_terminal);
  // Erases the bar of an unfinished scan.
  ~ScanDisplay() { Erase(); }
  ScanDisplay(const ScanDisplay&) = delete;
  ScanDisplay& operator=(const ScanDisplay&) = delete;

  // Call this at any rate during a scan; the display limits its output. Another table restarts the
  // display.
  void Show(const TableStatus& table, absl::Time now);
  bool IsShowing(absl::string_view container) const { return scanning_ == container; }
  // Ends the display, and logs that the scan is done.
  void Finish(const TableStatus& table, absl::Time now);

 private:
  void Begin(const TableStatus& table, absl::Time now);
  double Rate(const TableStatus& table, absl::Time now) const;
  // Erases the bar, if there is one.
  void Erase();

  const std::shared_ptr<spdlog::logger> terminal_;  // draws bars; null: no terminal
  std::string scanning_;                            // the container shown; empty: none
  int64_t first_rows_ = 0;                          // scanned rows when first shown
  absl::Time first_time_;
  absl::Time last_shown_ = absl::InfinitePast();
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_SCAN_DISPLAY_H_
