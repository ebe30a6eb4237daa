#ifndef TTL_CLIENT_TTLCTL_INPUT_HELD_KEY_TEXT_H_
#define TTL_CLIENT_TTLCTL_INPUT_HELD_KEY_TEXT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ttl/v1/hold.pb.h"

namespace ttl {

// The key that "PARTITION/ID" stands for, or "ID" alone for an item with an empty partition key;
// both in the notation of key_text.h. A slash inside a partition key or an id is written \x2f.
// INVALID_ARGUMENT for text with more than one slash, and as in KeyFromText. Pure.
absl::StatusOr<v1::HeldKey> HeldKeyFromText(absl::string_view text);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_HELD_KEY_TEXT_H_
