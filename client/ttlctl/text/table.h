#ifndef TTL_CLIENT_TTLCTL_TEXT_TABLE_H_
#define TTL_CLIENT_TTLCTL_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace ttl {

// Text in aligned columns under a header line. Can be rendered piece by piece, so that a long list
// needs the memory of one page; columns only ever grow wider. Not thread-safe.
class Table {
 public:
  explicit Table(std::vector<std::string> heads);

  // One text per column. Newlines are replaced by spaces.
  void AddRow(std::vector<std::string> row);

  // Makes the columns wide enough for a later row.
  void Reserve(const std::vector<std::string>& row);

  // Returns the rows added since the last call, at first with the header line. The last column is
  // not padded.
  std::string Render();

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> widths_;
};

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_TABLE_H_
