#ifndef TTL_TESTS_BENCH_GROWTH_GROWTH_REPORT_H_
#define TTL_TESTS_BENCH_GROWTH_GROWTH_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/bench/growth/growth_point.h"

namespace ttl::bench {

// 1000, 10K, 3M and the like. INVALID_ARGUMENT if it is nothing of the kind, or 0.
absl::StatusOr<uint64_t> ParseItems(absl::string_view text);

// The shortest that ParseItems() reads as `items`.
std::string ItemsText(uint64_t items);

// Ten times fewer and ten times fewer, down to 100K or to `max` if that is less; in
// ascending order, `max` the last.
std::vector<uint64_t> SizesUpTo(uint64_t max);

// For people: a table in Markdown, a line for each point.
std::string GrowthTable(const std::vector<GrowthPoint>& points);

// For draw_growth.py: a list of objects with the names of GrowthPoint's members.
std::string GrowthJson(const std::vector<GrowthPoint>& points);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_GROWTH_GROWTH_REPORT_H_
