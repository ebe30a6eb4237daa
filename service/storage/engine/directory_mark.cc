#include "service/storage/engine/directory_mark.h"

#include <sys/xattr.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ttl {
namespace {

constexpr char kAttribute[] = "user.ttl_sidecar.used";

// Any of the files that make a database; those of a damaged one are looked at when it is opened.
bool HasDatabaseFiles(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (name == "CURRENT" || absl::StartsWith(name, "MANIFEST-") || absl::EndsWith(name, ".ldb") ||
        absl::EndsWith(name, ".log")) {
      return true;
    }
  }
  return false;
}

}  // namespace

void MarkUsed(const std::string& directory) {
  static_cast<void>(setxattr(directory.c_str(), kAttribute, "1", 1, /*flags=*/0));
}

absl::Status CheckNotEmptied(const std::string& directory) {
  if (getxattr(directory.c_str(), kAttribute, nullptr, 0) < 0 || HasDatabaseFiles(directory)) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(
      "the database in ", directory, " is gone: the directory was emptied; restore a backup, or ",
      "rebuild the tracked data from the store; to start without data, delete the directory and "
      "create it again"));
}

}  // namespace ttl
