#ifndef TTL_CLIENT_TTLCTL_INPUT_HOLDS_FILE_H_
#define TTL_CLIENT_TTLCTL_INPUT_HOLDS_FILE_H_

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/ttlctl/input/line_reader.h"
#include "ttl/v1/hold_service.pb.h"

// The file of "holds export" and "holds apply", one JSON object per line: the requests that place
// the holds, with the field names of the protos and at most 1000 keys each, and as the last line
//
//   {"end":{"containers":["orders"],"lines":12}}
//
// whose containers have no other holds than those in the file, and which proves that none of the
// `lines` lines before it was cut off. Files may be joined.
namespace ttl {

// The last line.
struct HoldsFileEnd {
  std::vector<std::string> containers;
  int64_t lines = 0;
};

// Lines without their newline. INTERNAL for a request whose `until` is no time. REQUIRES: texts are
// UTF-8. Pure.
absl::StatusOr<std::string> HoldsFileLine(const v1::PlaceHoldRequest& request);
std::string HoldsFileLine(const HoldsFileEnd& end);

// Reads such a file. Memory is bounded by one line and the ids of the containers. Not thread-safe.
class HoldsFileReader {
 public:
  // More than 1000 keys at their maximum.
  static constexpr size_t kMaxLineBytes = 5 << 20;

  // `in` must outlive the reader.
  explicit HoldsFileReader(std::istream& in) : lines_(in, kMaxLineBytes) {}

  // Returns the next request; absent at the end. INVALID_ARGUMENT "line N: ..." at the first
  // invalid line, and for a last line that does not count the lines before it.
  absl::StatusOr<std::optional<v1::PlaceHoldRequest>> Next();

  int64_t line_number() const { return lines_.line_number(); }

  // What the last lines say. REQUIRES: the end was reached.
  bool is_complete() const { return has_end_ && lines_since_end_ == 0; }
  const std::vector<std::string>& containers() const { return containers_; }

 private:
  absl::Status Error(absl::string_view message) const;
  absl::Status TakeEnd(const HoldsFileEnd& end);

  LineReader lines_;
  int64_t lines_since_end_ = 0;
  bool has_end_ = false;
  std::vector<std::string> containers_;
};

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_HOLDS_FILE_H_
