// What a client of HTTP/2 sends, as far as its limits are judged.

#include "service/transport/connections/frame_guard.h"
#include "tests/fuzz/fuzz_input.h"

namespace ttl {
namespace {

using Verdict = FrameGuard::Verdict;

constexpr FrameLimits kLimits = {.header_block_bytes = 300,
                                 .unacknowledged_calls = 3,
                                 .resets_per_second = 2,
                                 .pings_per_minute = 4};

// The verdict does not depend on the pieces in which bytes come.
void ReadInPieces(absl::string_view bytes, size_t size) {
  FrameGuard at_once(kLimits);
  const Verdict expected = at_once.Take(bytes, 0);
  FrameGuard guard(kLimits);
  Verdict verdict = Verdict::kKeeps;
  for (size_t at = 0; at < bytes.size() && verdict == Verdict::kKeeps; at += size) {
    verdict = guard.Take(bytes.substr(at, size), 0);
  }
  Require(verdict == expected, "the same verdict");
}

}  // namespace
}  // namespace ttl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const size_t piece : {1, 5, 16}) ttl::ReadInPieces(bytes, piece);
  return 0;
}
