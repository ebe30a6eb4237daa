#include "client/ttlctl/input/held_key_text.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/input/key_text.h"

namespace ttl {

absl::StatusOr<v1::HeldKey> HeldKeyFromText(absl::string_view text) {
  const size_t slash = text.find('/');
  if (slash != text.rfind('/')) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text,
                     "\" has more than one slash: it must be PARTITION/ID, or ID for an item "
                     "without a partition key, with \\x2f for a slash inside either"));
  }
  const bool has_partition = slash != absl::string_view::npos;
  absl::StatusOr<std::string> partition_key =
      KeyFromText(has_partition ? text.substr(0, slash) : absl::string_view());
  if (!partition_key.ok()) return partition_key.status();
  absl::StatusOr<std::string> id = KeyFromText(has_partition ? text.substr(slash + 1) : text);
  if (!id.ok()) return id.status();
  v1::HeldKey key;
  key.set_partition_key(*std::move(partition_key));
  key.set_id(*std::move(id));
  return key;
}

}  // namespace ttl
