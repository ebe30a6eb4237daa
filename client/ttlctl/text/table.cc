#include "client/ttlctl/text/table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "client/ttlctl/text/format.h"

namespace ttl {
namespace {

constexpr size_t kGap = 2;  // between columns
// What the first and the last column have even where there is no room.
constexpr size_t kLeastFirst = 12;
constexpr size_t kLeastLast = 16;

void Pad(std::string& line, size_t width) {
  const size_t present = DisplayWidth(line);
  if (present < width) line.append(width - present, ' ');
}

// The bytes of the first `width` characters.
size_t BytesOf(absl::string_view text, size_t width) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    const bool begins_character = (text[bytes] & 0xC0) != 0x80;
    if (begins_character && width-- == 0) break;
    ++bytes;
  }
  return bytes;
}

// Takes the next line of at most `room` columns away from `text`.
absl::string_view TakeLine(absl::string_view& text, size_t room) {
  size_t end = BytesOf(text, room);
  size_t next = end;
  if (end < text.size()) {
    const size_t space = text.substr(0, end + 1).rfind(' ');
    if (space != absl::string_view::npos && space > 0) {
      end = space;
      next = space + 1;
    }
  }
  const absl::string_view line = text.substr(0, end);
  text.remove_prefix(next);
  return line;
}

void AppendLine(std::string& text, absl::string_view line) {
  absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(line), "\n");
}

}  // namespace

Table::Table(std::vector<std::string> heads) : widths_(heads.size(), 0) {
  AddRow(std::move(heads));
}

void Table::AddRow(std::vector<std::string> row) {
  for (std::string& cell : row) std::replace(cell.begin(), cell.end(), '\n', ' ');
  Reserve(row);
  rows_.push_back(std::move(row));
}

void Table::Reserve(const std::vector<std::string>& row) {
  for (size_t column = 0; column < widths_.size(); ++column) {
    widths_[column] = std::max(widths_[column], DisplayWidth(row[column]));
  }
}

std::string Table::Render() {
  const Layout layout = Arrange();
  std::string text;
  for (const std::vector<std::string>& row : rows_) text += RenderRow(row, layout);
  rows_.clear();
  return text;
}

Table::Layout Table::Arrange() const {
  size_t middle = kGap;
  for (size_t column = 1; column + 1 < widths_.size(); ++column) middle += widths_[column] + kGap;
  const size_t last = std::min(widths_.back(), kLeastLast);
  const size_t taken = middle + last;
  const size_t share = std::max(kLeastFirst, kMaxWidth - std::min(kMaxWidth, taken));
  const size_t first = std::min(widths_.front(), share);
  const size_t last_start = first + middle;
  return {first, last_start, std::max(last, kMaxWidth - std::min(kMaxWidth, last_start))};
}

std::string Table::RenderRow(const std::vector<std::string>& row, const Layout& layout) const {
  std::string text;
  std::string line = row.front();
  if (DisplayWidth(line) > layout.first) AppendLine(text, std::exchange(line, ""));
  size_t start = layout.first + kGap;
  for (size_t column = 1; column + 1 < row.size(); ++column) {
    Pad(line, start);
    line += row[column];
    start += widths_[column] + kGap;
  }
  absl::string_view rest = row.back();
  do {
    Pad(line, layout.last_start);
    absl::StrAppend(&line, TakeLine(rest, layout.last_room));
    AppendLine(text, std::exchange(line, ""));
  } while (!rest.empty());
  return text;
}

}  // namespace ttl
