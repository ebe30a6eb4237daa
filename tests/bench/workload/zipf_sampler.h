#ifndef TTL_TESTS_BENCH_WORKLOAD_ZIPF_SAMPLER_H_
#define TTL_TESTS_BENCH_WORKLOAD_ZIPF_SAMPLER_H_

#include <cstdint>

#include "tests/bench/workload/random.h"

namespace ttl::workload {

// Draws ranks 1..n with probability proportional to rank^-alpha, exactly, in
// constant time and memory whatever n, by rejection-inversion (W. Hörmann and
// G. Derflinger, "Rejection-inversion to generate variates from monotone
// discrete distributions", 1996). alpha = 0 is uniform.
//
// Immutable after construction, so safe to share between threads.
class ZipfSampler {
 public:
  // REQUIRES: n >= 1, alpha >= 0.
  ZipfSampler(uint64_t n, double alpha);

  uint64_t Sample(Random& random) const;

 private:
  // Integral of x^-alpha from 1 to x, and its inverse.
  double Integral(double x) const;
  double InverseIntegral(double y) const;

  uint64_t n_;
  double alpha_;
  // The hat is drawn from (low_, high_]; draws within shortcut_ of the rank
  // above them are accepted without another look.
  double low_;
  double high_;
  double shortcut_;
};

}  // namespace ttl::workload

#endif  // TTL_TESTS_BENCH_WORKLOAD_ZIPF_SAMPLER_H_
