#ifndef TTL_CLIENT_TTLCTL_INPUT_KEY_TEXT_H_
#define TTL_CLIENT_TTLCTL_INPUT_KEY_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl {

// Partition keys, ids and etags are arbitrary bytes. On the command line and in tables they are
// text: a backslash is written \\, and any byte can be written \xHH with two hexadecimal digits.
// Other characters stand for themselves.

// The text of `bytes`: printable UTF-8 stays as it is; control and formatting
// characters and bytes that are not UTF-8 become \xHH. KeyFromText reverses it.
std::string KeyToText(absl::string_view bytes);

// The bytes that `text` stands for. INVALID_ARGUMENT for a backslash that
// begins neither \\ nor \xHH.
absl::StatusOr<std::string> KeyFromText(absl::string_view text);

// `text` made safe for a terminal: as in KeyToText, but backslashes and newlines stay as they are.
std::string TerminalText(absl::string_view text);

// Whether `bytes` are valid UTF-8, as ids of containers must be.
bool IsUtf8(absl::string_view bytes);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_KEY_TEXT_H_
