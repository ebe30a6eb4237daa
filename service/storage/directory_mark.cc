#include "service/storage/directory_mark.h"

#include <sys/xattr.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

constexpr char kAttribute[] = "user.ttl_sidecar.used";

}  // namespace

void MarkUsed(const std::string& directory) {
  static_cast<void>(setxattr(directory.c_str(), kAttribute, "1", 1, /*flags=*/0));
}

absl::Status CheckNotEmptied(const std::string& directory) {
  std::error_code error;
  if (getxattr(directory.c_str(), kAttribute, nullptr, 0) < 0 ||
      std::filesystem::exists(std::filesystem::path(directory) / "CURRENT", error)) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(
      "the database in ", directory, " is gone: the directory was emptied; restore a backup, or ",
      "rebuild what was tracked from the store; to begin without it, make the directory anew"));
}

}  // namespace ttl
