#ifndef TTL_CLIENT_TTLCTL_INPUT_HELD_KEY_READER_H_
#define TTL_CLIENT_TTLCTL_INPUT_HELD_KEY_READER_H_

#include <cstddef>
#include <istream>

#include "absl/status/statusor.h"
#include "client/ttlctl/input/line_reader.h"
#include "ttl/v1/hold.pb.h"

namespace ttl {

// Reads a file of keys batch by batch: one key per line, in the notation of held_key_text.h. Blank
// lines are skipped. Memory is bounded by one batch. Not thread-safe.
class HeldKeyReader {
 public:
  // More than a key at its maximum with every byte escaped.
  static constexpr size_t kMaxLineBytes = 16 << 10;
  // As many as PlaceHold accepts.
  static constexpr int kMaxKeys = 1000;

  // `in` must outlive the reader.
  explicit HeldKeyReader(std::istream& in) : lines_(in, kMaxLineBytes) {}

  // Returns the next keys; none at the end. INVALID_ARGUMENT "line N: ..." at the first invalid
  // line.
  absl::StatusOr<v1::HeldKeys> Next();

 private:
  LineReader lines_;
};

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_HELD_KEY_READER_H_
