#ifndef TTL_CLIENT_TTLCTL_TEXT_TABLE_H_
#define TTL_CLIENT_TTLCTL_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace ttl {

// Text in aligned columns under a header line, at most kMaxWidth terminal columns wide as long as
// the middle columns leave room. Nothing is cut off:
//
// - a first cell, which is a name, that is wider than its share stands alone on a line, and the
// rest
//   of its row below it;
// - the last cell is continued below itself, broken between words where that is possible.
//
// Can be rendered piece by piece, so that a long list needs the memory of one page; columns only
// ever grow wider. Not thread-safe.
class Table {
 public:
  static constexpr size_t kMaxWidth = 80;

  // REQUIRES: at least two heads.
  explicit Table(std::vector<std::string> heads);

  // One text per column. Newlines are replaced by spaces.
  void AddRow(std::vector<std::string> row);

  // Makes the columns wide enough for a later row.
  void Reserve(const std::vector<std::string>& row);

  // Returns the rows added since the last call, at first with the header line. Lines do not end
  // with spaces.
  std::string Render();

 private:
  // The columns before the last one, which begin where the last one is wrapped to.
  struct Layout {
    size_t first;  // width of the first column
    size_t last_start;
    size_t last_room;
  };

  Layout Arrange() const;
  std::string RenderRow(const std::vector<std::string>& row, const Layout& layout) const;

  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> widths_;
};

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_TABLE_H_
