#include "client/ttlctl/input/import_reader.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/ttlctl/input/import_line.h"
#include "ttl/client.h"

namespace ttl {

ImportReader::ImportReader(std::istream& in) : in_(in), buffer_(kMaxLineBytes + 2) {}

absl::StatusOr<ImportBatch> ImportReader::Next() {
  ImportBatch batch;
  while (batch.items.size() < TtlClient::kMaxEntriesPerCall) {
    const absl::StatusOr<bool> more = ReadLine();
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (absl::StripAsciiWhitespace(line()).empty()) continue;
    absl::StatusOr<v1::Item> item = ParseImportLine(line());
    if (!item.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line_number_, ": ", item.status().message()));
    }
    batch.items.push_back(*std::move(item));
    batch.lines.push_back(line_number_);
  }
  return batch;
}

absl::StatusOr<bool> ImportReader::ReadLine() {
  in_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  if (in_.bad()) {
    return absl::DataLossError(absl::StrCat("cannot be read after line ", line_number_));
  }
  if (in_.gcount() == 0) return false;
  ++line_number_;
  if (in_.fail()) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", line_number_, ": longer than ", kMaxLineBytes, " bytes"));
  }
  // The newline is counted but not stored; the last line may have none.
  line_bytes_ = static_cast<size_t>(in_.gcount()) - (in_.eof() ? 0 : 1);
  return true;
}

}  // namespace ttl
