#include "tests/bench/workload/tally.h"

#include <utility>

namespace ttl::workload {

constexpr size_t kMaxSamples = 20;

void Tally::AddMismatch(std::string description) {
  ++mismatches;
  if (mismatch_samples.size() < kMaxSamples) mismatch_samples.push_back(std::move(description));
}

void Tally::Add(const Tally& other) {
  puts += other.puts;
  creates += other.creates;
  replaces += other.replaces;
  touches += other.touches;
  deletes += other.deletes;
  gets += other.gets;
  queries += other.queries;
  shown += other.shown;
  hidden += other.hidden;
  at_boundary += other.at_boundary;
  unanswered += other.unanswered;
  resolved += other.resolved;
  mismatches += other.mismatches;
  for (const std::string& sample : other.mismatch_samples) {
    if (mismatch_samples.size() < kMaxSamples) mismatch_samples.push_back(sample);
  }
}

}  // namespace ttl::workload
