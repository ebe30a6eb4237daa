#ifndef TTL_TESTS_BENCH_SPEED_REPORT_H_
#define TTL_TESTS_BENCH_SPEED_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "tests/bench/speed/statistics.h"

namespace ttl::bench {

// What a ratio must be.
struct Target {
  enum class Kind { kAtLeast, kAtMost };
  Kind kind = Kind::kAtLeast;
  double value = 0;
};

// One that ours is compared with.
struct Comparison {
  std::string name;  // as in "bare echo"
  Spread value;      // in the unit of the row
  Spread ratio;      // ours / it, round by round
  std::optional<Target> target;

  // Whether the median of the ratios is what it must be; absent without a target.
  std::optional<bool> Met() const;
};

// One kind of work.
struct Row {
  std::string name;  // short, for --only
  std::string work;  // in words
  std::string unit;  // of ours and of what it is compared with
  Spread ours;
  std::vector<Comparison> comparisons;
  std::string note;  // what else was seen; may be empty
  // Why there is no verdict, whatever the targets: the machine was busy with other things. Empty
  // if it was not.
  std::string disturbance = "";
};

// How and where the rows came to be.
struct Circumstances {
  std::string started;  // RFC 3339
  std::string machine;
  int rounds = 0;
  double window_seconds = 0;
};

// For people: one line per comparison, as a table in Markdown, and the notes.
std::string ToTable(const std::vector<Row>& rows);

// For programs: {"started", "machine", "rounds", "window_seconds", "rows": [...]}.
std::string ToJson(const Circumstances& circumstances, const std::vector<Row>& rows);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_REPORT_H_
