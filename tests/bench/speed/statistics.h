#ifndef TTL_TESTS_BENCH_SPEED_STATISTICS_H_
#define TTL_TESTS_BENCH_SPEED_STATISTICS_H_

#include <vector>

namespace ttl::bench {

// How the values of several rounds spread.
struct Spread {
  double min = 0;
  double median = 0;
  double max = 0;
};

// The median of an even number of values is the mean of the middle two. All zero if
// there are none.
Spread SpreadOf(std::vector<double> values);

// The ratios of values that belong together, a[i] / b[i]. Pairs whose second value is
// not positive are left out. Both are equally long.
std::vector<double> Ratios(const std::vector<double>& a, const std::vector<double>& b);

// The smallest value that at least `share` (0 to 1) of the values do not exceed; 0 if
// there are none. Reorders the values.
double Percentile(std::vector<double>& values, double share);

}  // namespace ttl::bench

#endif  // TTL_TESTS_BENCH_SPEED_STATISTICS_H_
