#include "service/storage/commit/seen_keys.h"

#include <algorithm>

#include "absl/hash/hash.h"

namespace ttl {
namespace {

constexpr int64_t kMinBits = int64_t{1} << 16;
constexpr int64_t kMaxBits = static_cast<int64_t>(SeenKeys::kMaxBytes) * 8;

}  // namespace

SeenKeys::SeenKeys(int64_t expected_keys) {
  const int64_t keys = std::clamp<int64_t>(expected_keys, 0, kMaxBits / kBitsPerKey);
  words_.resize(static_cast<size_t>(std::max(kMinBits, keys * kBitsPerKey)) / 64);
}

// Visits the bits of a key until `visit` answers false; whether it never did.
template <typename Visit>
bool SeenKeys::VisitBits(absl::string_view key, Visit visit) const {
  uint64_t position = absl::Hash<absl::string_view>()(key);
  // Odd, so that the probes differ.
  const uint64_t step = (position >> 17 | position << 47) | 1;
  for (int probe = 0; probe < kProbes; ++probe, position += step) {
    const uint64_t bit = position % (words_.size() * 64);
    if (!visit(bit / 64, uint64_t{1} << (bit % 64))) return false;
  }
  return true;
}

void SeenKeys::Add(absl::string_view key) {
  VisitBits(key, [this](size_t word, uint64_t mask) {
    words_[word] |= mask;
    return true;
  });
}

bool SeenKeys::Contains(absl::string_view key) const {
  return VisitBits(key, [this](size_t word, uint64_t mask) { return (words_[word] & mask) != 0; });
}

}  // namespace ttl
