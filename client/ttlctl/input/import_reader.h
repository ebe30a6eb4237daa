#ifndef TTL_CLIENT_TTLCTL_INPUT_IMPORT_READER_H_
#define TTL_CLIENT_TTLCTL_INPUT_IMPORT_READER_H_

#include <cstdint>
#include <istream>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ttl/v1/item.pb.h"

namespace ttl {

// Items read one after the other, and the line of each.
struct ImportBatch {
  std::vector<v1::Item> items;
  std::vector<int64_t> lines;
};

// Reads an import batch by batch; see ParseImportLine for its lines. Blank lines
// are skipped. Needs memory for one batch, whatever the length of the input.
// Not thread-safe.
class ImportReader {
 public:
  // A line of all fields at their largest, escaped as wastefully as JSON
  // allows, is shorter.
  static constexpr size_t kMaxLineBytes = 64 << 10;

  // `in` must outlive the reader.
  explicit ImportReader(std::istream& in);

  // The next items, at most as many as one TrackItems takes; none at the end.
  // INVALID_ARGUMENT "line N: ..." at the first bad line.
  absl::StatusOr<ImportBatch> Next();

 private:
  // Reads the next line into line_; false at the end.
  absl::StatusOr<bool> ReadLine();
  absl::string_view line() const { return {buffer_.data(), line_bytes_}; }

  std::istream& in_;
  std::vector<char> buffer_;
  size_t line_bytes_ = 0;
  int64_t line_number_ = 0;
};

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_IMPORT_READER_H_
