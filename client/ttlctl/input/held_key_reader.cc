#include "client/ttlctl/input/held_key_reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/input/held_key_text.h"

namespace ttl {

absl::StatusOr<v1::HeldKeys> HeldKeyReader::Next() {
  v1::HeldKeys keys;
  while (keys.keys_size() < kMaxKeys) {
    const auto line = lines_.Next();
    if (!line.ok()) return line.status();
    if (!line->has_value()) break;
    absl::StatusOr<v1::HeldKey> key = HeldKeyFromText(**line);
    if (!key.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", lines_.line_number(), ": ", key.status().message()));
    }
    *keys.add_keys() = *std::move(key);
  }
  return keys;
}

}  // namespace ttl
