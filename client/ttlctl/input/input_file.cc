#include "client/ttlctl/input/input_file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace ttl {

absl::StatusOr<std::ifstream> OpenInputFile(const std::string& path, absl::string_view wanted) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", error ? error.message() : "is not a regular file", "; give ",
                     wanted, ", or - for standard input"));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be opened: ", std::generic_category().message(errno)));
  }
  return file;
}

std::string InputName(const std::string& path) { return path == "-" ? "standard input" : path; }

}  // namespace ttl
