#ifndef TTL_CLIENT_TTLCTL_INPUT_INPUT_FILE_H_
#define TTL_CLIENT_TTLCTL_INPUT_INPUT_FILE_H_

#include <fstream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl {

// The regular file at `path`, which can be read twice: once to validate all of it, and again to use
// it. INVALID_ARGUMENT, naming the path, if it is none or cannot be opened; `wanted` says what the
// command reads, such as "a file of JSON lines".
absl::StatusOr<std::ifstream> OpenInputFile(const std::string& path, absl::string_view wanted);

// How messages name the FILE of a command: "standard input" for "-".
std::string InputName(const std::string& path);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_INPUT_INPUT_FILE_H_
