#include "client/ttlctl/input/line_reader.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ttl {

LineReader::LineReader(std::istream& in, size_t max_line_bytes)
    : in_(in), buffer_(max_line_bytes + 2) {}

absl::StatusOr<std::optional<absl::string_view>> LineReader::Next() {
  while (true) {
    const absl::StatusOr<bool> more = Read();
    if (!more.ok()) return more.status();
    if (!*more) return std::nullopt;
    if (!absl::StripAsciiWhitespace(line()).empty()) return absl::StripSuffix(line(), "\r");
  }
}

absl::StatusOr<bool> LineReader::Read() {
  in_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  if (in_.bad()) {
    return absl::DataLossError(absl::StrCat("cannot be read after line ", line_number_));
  }
  if (in_.gcount() == 0) return false;
  ++line_number_;
  if (in_.fail()) {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", line_number_, ": longer than ", buffer_.size() - 2, " bytes"));
  }
  // The newline is counted but not stored; the last line may have none.
  line_bytes_ = static_cast<size_t>(in_.gcount()) - (in_.eof() ? 0 : 1);
  return true;
}

}  // namespace ttl
