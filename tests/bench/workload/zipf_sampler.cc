#include "tests/bench/workload/zipf_sampler.h"

#include <algorithm>
#include <cmath>

namespace ttl::workload {
namespace {

// Both have a removable singularity at 0, which alpha near 1 comes close to.
double Expm1OverX(double x) { return std::abs(x) < 1e-8 ? 1 + x / 2 : std::expm1(x) / x; }
double Log1pOverX(double x) { return std::abs(x) < 1e-8 ? 1 - x / 2 : std::log1p(x) / x; }

}  // namespace

ZipfSampler::ZipfSampler(uint64_t n, double alpha)
    : n_(n),
      alpha_(alpha),
      low_(Integral(1.5) - 1),
      high_(Integral(static_cast<double>(n) + 0.5)),
      shortcut_(2 - InverseIntegral(Integral(2.5) - std::pow(2.0, -alpha))) {}

uint64_t ZipfSampler::Sample(Random& random) const {
  while (true) {
    const double u = high_ + random.Fraction() * (low_ - high_);
    const double x = InverseIntegral(u);
    const double rank = std::clamp(std::round(x), 1.0, static_cast<double>(n_));
    if (rank - x <= shortcut_ || u >= Integral(rank + 0.5) - std::pow(rank, -alpha_)) {
      return static_cast<uint64_t>(rank);
    }
  }
}

double ZipfSampler::Integral(double x) const {
  const double log_x = std::log(x);
  return log_x * Expm1OverX((1 - alpha_) * log_x);
}

double ZipfSampler::InverseIntegral(double y) const {
  // Rounding may carry the argument just below the range of log1p.
  const double t = std::max(y * (1 - alpha_), -1.0);
  return std::exp(y * Log1pOverX(t));
}

}  // namespace ttl::workload
