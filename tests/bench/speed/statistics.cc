#include "tests/bench/speed/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ttl::bench {

Spread SpreadOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const bool odd = values.size() % 2 == 1;
  const double median = odd ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {values.front(), median, values.back()};
}

std::vector<double> Ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < a.size(); ++i) {
    if (b[i] > 0) ratios.push_back(a[i] / b[i]);
  }
  return ratios;
}

double Percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const size_t index = std::min(values.size(), static_cast<size_t>(std::max(rank, 1.0))) - 1;
  const auto place = values.begin() + static_cast<ptrdiff_t>(index);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

}  // namespace ttl::bench
