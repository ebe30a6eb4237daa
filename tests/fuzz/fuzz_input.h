#ifndef TTL_TESTS_FUZZ_FUZZ_INPUT_H_
#define TTL_TESTS_FUZZ_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/string_view.h"

namespace ttl {

// Ends the run, with the input that led here kept, unless `holds`.
inline void Require(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s\n", what);
  abort();
}

// What the fuzzer made up, taken from the front part by part; a part that is not there
// is empty, or 0.
class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : bytes_(reinterpret_cast<const char*>(data), size) {}

  uint8_t TakeByte() {
    if (bytes_.empty()) return 0;
    const uint8_t byte = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }

  uint64_t TakeNumber() {
    uint64_t number = 0;
    for (int i = 0; i < 8; ++i) number = number << 8 | TakeByte();
    return number;
  }

  // A byte that says how long it is, and so many bytes.
  absl::string_view TakeText() {
    const size_t length = TakeByte();
    const absl::string_view text = bytes_.substr(0, length);
    bytes_.remove_prefix(text.size());
    return text;
  }

  absl::string_view rest() const { return bytes_; }

 private:
  absl::string_view bytes_;
};

}  // namespace ttl

#endif  // TTL_TESTS_FUZZ_FUZZ_INPUT_H_
