#ifndef TTL_TESTS_BENCH_WORKLOAD_RANDOM_H_
#define TTL_TESTS_BENCH_WORKLOAD_RANDOM_H_

#include <cstdint>

namespace ttl::workload {

// Spreads the bits of a number: a bijection in which every input bit affects
// every output bit (the finalizer of SplitMix64).
inline uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A seeded stream of random numbers, the same on every machine (the standard
// library's distributions are not). Not thread-safe; cheap to make and copy.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(Mix(seed)) {}

  uint64_t Next() {
    const uint64_t result = Mix(state_);
    state_ += 0x9e3779b97f4a7c15;
    return result;
  }

  // Uniform in [0, 1).
  double Fraction() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

  // Uniform in [0, bound). REQUIRES: bound > 0.
  uint64_t Below(uint64_t bound) { return Next() % bound; }

  // True with that probability.
  bool Chance(double probability) { return Fraction() < probability; }

 private:
  uint64_t state_;
};

}  // namespace ttl::workload

#endif  // TTL_TESTS_BENCH_WORKLOAD_RANDOM_H_
