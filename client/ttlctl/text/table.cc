#include "client/ttlctl/text/table.h"

#include <algorithm>
#include <utility>

#include "client/ttlctl/text/format.h"

namespace ttl {

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
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    for (size_t column = 0; column + 1 < widths_.size(); ++column) {
      text += row[column];
      text.append(widths_[column] + 2 - DisplayWidth(row[column]), ' ');
    }
    text += row.back();
    text += '\n';
  }
  rows_.clear();
  return text;
}

}  // namespace ttl
