#ifndef TTL_CLIENT_TTLCTL_INPUT_LINE_READER_H_
#define TTL_CLIENT_TTLCTL_INPUT_LINE_READER_H_

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl {

// Reads lines of bounded length. Not thread-safe.
class LineReader {
 public:
  // `in` must outlive the reader.
  LineReader(std::istream& in, size_t max_line_bytes);

  // Returns the next line that is not blank, without its line end, valid until the next call;
  // absent at the end. INVALID_ARGUMENT "line N: longer than ...", DATA_LOSS if the input cannot be
  // read.
  absl::StatusOr<std::optional<absl::string_view>> Next();

  // The number of the last line that was read, from 1.
  int64_t line_number() const { return line_number_; }

 private:
  // Reads the next line into buffer_. Returns false at the end.
  absl::StatusOr<bool> Read();
  absl::string_view line() const { return {buffer_.data(), line_bytes_}; }

  std::istream& in_;
  std::vector<char> buffer_;
  size_t line_bytes_ = 0;
  int64_t line_number_ = 0;
};

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_LINE_READER_H_
