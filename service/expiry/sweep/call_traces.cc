#include "service/expiry/sweep/call_traces.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

std::mt19937_64 Seeded() {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device(), device(), device()};
  return std::mt19937_64(seed);
}

std::string Hex(uint64_t value) { return absl::StrCat(absl::Hex(value, absl::kZeroPad16)); }

// An id of only zeros is not valid.
uint64_t NotZero(uint64_t value) { return value == 0 ? 1 : value; }

}  // namespace

CallTraces::CallTraces() : random_(Seeded()) {}

CallTrace CallTraces::Next(bool in_trouble, absl::Duration now) {
  CallTrace trace;
  trace.sampled = in_trouble || now - last_sampled_ >= kSamplingInterval;
  if (trace.sampled) last_sampled_ = now;
  trace.trace_id = absl::StrCat(Hex(NotZero(random_())), Hex(random_()));
  trace.trace_parent = absl::StrCat("00-", trace.trace_id, "-", Hex(NotZero(random_())),
                                    trace.sampled ? "-01" : "-00");
  return trace;
}

}  // namespace ttl
