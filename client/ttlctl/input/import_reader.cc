#include "client/ttlctl/input/import_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/input/import_line.h"
#include "ttl/client.h"

namespace ttl {

ImportReader::ImportReader(std::istream& in) : lines_(in, kMaxLineBytes) {}

absl::StatusOr<ImportBatch> ImportReader::Next() {
  ImportBatch batch;
  while (batch.items.size() < TtlClient::kMaxEntriesPerCall) {
    const auto line = lines_.Next();
    if (!line.ok()) return line.status();
    if (!line->has_value()) break;
    absl::StatusOr<v1::Item> item = ParseImportLine(**line);
    if (!item.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", lines_.line_number(), ": ", item.status().message()));
    }
    batch.items.push_back(*std::move(item));
    batch.lines.push_back(lines_.line_number());
  }
  return batch;
}

}  // namespace ttl
