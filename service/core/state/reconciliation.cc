#include "service/core/state/reconciliation.h"

#include <algorithm>
#include <utility>

namespace ttl {
namespace {

int64_t& CountOf(Difference difference, ReconciliationCounts& counts) {
  switch (difference) {
    case Difference::kMissing:
      return counts.missing;
    case Difference::kDiffering:
      return counts.differing;
    case Difference::kNewer:
      return counts.newer;
    case Difference::kInvalid:
      return counts.invalid;
    case Difference::kExtra:
      break;
  }
  return counts.extra;
}

}  // namespace

void Reconciliation::Add(ReconciliationSample sample) {
  ++CountOf(sample.difference, counts);
  const auto alike = std::count_if(samples.begin(), samples.end(), [&](const auto& known) {
    return known.difference == sample.difference;
  });
  if (static_cast<size_t>(alike) < kMaxSamplesPerKind) samples.push_back(std::move(sample));
}

}  // namespace ttl
