#ifndef TTL_CLIENT_TTLCTL_INPUT_IMPORT_READER_H_
#define TTL_CLIENT_TTLCTL_INPUT_IMPORT_READER_H_

#include <cstdint>
#include <istream>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ttlctl/input/line_reader.h"
#include "ttl/v1/item.pb.h"

namespace ttl {

// Consecutive items, and the line of each.
struct ImportBatch {
  std::vector<v1::Item> items;
  std::vector<int64_t> lines;
};

// Reads an import batch by batch; ParseImportLine describes the lines. Blank lines are skipped.
// Memory is bounded by one batch, whatever the length of the input. Not thread-safe.
class ImportReader {
 public:
  // More than the longest line of all fields at their maximum, with every character escaped.
  static constexpr size_t kMaxLineBytes = 64 << 10;

  // `in` must outlive the reader.
  explicit ImportReader(std::istream& in);

  // Returns the next items, at most as many as TrackItems accepts; none at the end.
  // INVALID_ARGUMENT "line N: ..." at the first invalid line.
  absl::StatusOr<ImportBatch> Next();

 private:
  LineReader lines_;
};

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_IMPORT_READER_H_
