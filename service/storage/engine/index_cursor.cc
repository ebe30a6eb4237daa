#include "service/storage/engine/index_cursor.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "service/storage/format/key_codec.h"

namespace ttl {
namespace {

std::string SeekKey(uint64_t index, IndexFamily family, const IndexPlace& place) {
  return place.key.empty() ? IndexSeekKey(index, family, place.time) : place.key;
}

}  // namespace

IndexCursor::IndexCursor(const Database& database, uint64_t index, IndexFamily family,
                         const IndexPlace& start)
    : cursor_(
          database.ReadPrefix(IndexFamilyPrefix(index, family), SeekKey(index, family, start))) {
  Decode();
}

absl::Status IndexCursor::status() const {
  if (cursor_.Valid() && !valid_) return absl::DataLossError("an index entry is unreadable");
  return cursor_.status();
}

IndexPlace IndexCursor::place() const { return {entry_.time, std::string(cursor_.key())}; }

void IndexCursor::Next() {
  cursor_.Next();
  Decode();
}

IndexEntry IndexCursor::Take() {
  IndexEntry taken = std::move(entry_);
  Next();
  return taken;
}

std::vector<IndexEntry> IndexCursor::TakeUntil(int64_t last_time, size_t most) {
  std::vector<IndexEntry> entries;
  while (Valid() && entries.size() < most && entry_.time <= last_time) entries.push_back(Take());
  return entries;
}

void IndexCursor::Decode() {
  std::optional<IndexEntry> decoded;
  if (cursor_.Valid()) decoded = DecodeIndexKey(cursor_.key());
  valid_ = decoded.has_value();
  if (valid_) entry_ = *std::move(decoded);
}

}  // namespace ttl
