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

// How far a first scan is: "orders: 1200000 of about 5000000 rows (24 %), 150000 rows/s, 25s
// left". `rate` in rows a second; 0: not known.
std::string ScanText(const TableStatus& table, double rate);

// The same in less than `columns`, so that a terminal of that width does not begin a second line:
// "[####............] orders: 24 % of about 5000000 rows, 150000 rows/s, 25s left". The bar takes
// what room there is; where there is too little, it goes first, then the end of the text.
std::string ScanBar(const TableStatus& table, double rate, int columns);

// Shows how far the first scan of a table is: on a terminal, which is standard error, by a bar
// that is drawn again and again in the same line, else by a line in the log every ten seconds.
// A line of the log that comes in between has to erase the bar itself; it may come from any
// thread. For one thread.
class ScanDisplay {
 public:
  explicit ScanDisplay(bool is_terminal);
  // A scan that is shown breaks off.
  ~ScanDisplay() { Erase(); }
  ScanDisplay(const ScanDisplay&) = delete;
  ScanDisplay& operator=(const ScanDisplay&) = delete;

  // To be called as often as one likes while a scan goes on. With another table than before it
  // begins anew.
  void Show(const TableStatus& table, absl::Time now);
  bool IsShowing(absl::string_view container) const { return scanning_ == container; }
  // The scan that is shown has ended, as a line of the log says.
  void Finish(const TableStatus& table, absl::Time now);

 private:
  void Begin(const TableStatus& table, absl::Time now);
  double Rate(const TableStatus& table, absl::Time now) const;
  // Takes the bar away, if there is one.
  void Erase();

  const std::shared_ptr<spdlog::logger> terminal_;  // takes bars; null: there is none
  std::string scanning_;                            // the container shown; empty: none
  int64_t first_rows_ = 0;                          // when it was first shown
  absl::Time first_time_;
  absl::Time last_shown_ = absl::InfinitePast();
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_TABLES_SCAN_DISPLAY_H_
