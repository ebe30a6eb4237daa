#include "service/storage/engine/file_list.h"

#include <leveldb/env.h>

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace ttl {
namespace {

constexpr char kListFile[] = "/closed-files";

bool IsListed(absl::string_view name) {
  return absl::EndsWith(name, ".ldb") || absl::EndsWith(name, ".log") ||
         absl::StartsWith(name, "MANIFEST-");
}

// The contents of CURRENT, which each opening changes. Empty if it cannot be read.
std::string ReadCurrent(leveldb::Env& env, const std::string& directory) {
  std::string current;
  if (!leveldb::ReadFileToString(&env, directory + "/CURRENT", &current).ok()) return "";
  return current.substr(0, current.find('\n'));
}

// First line: CURRENT. Then one line for each file: its length, a blank, its name.
std::string MakeList(leveldb::Env& env, const std::string& directory) {
  std::string list = absl::StrCat(ReadCurrent(env, directory), "\n");
  std::vector<std::string> names;
  if (!env.GetChildren(directory, &names).ok()) return "";
  for (const std::string& name : names) {
    uint64_t size = 0;
    if (!IsListed(name)) continue;
    if (!env.GetFileSize(absl::StrCat(directory, "/", name), &size).ok()) return "";
    absl::StrAppend(&list, size, " ", name, "\n");
  }
  return list;
}

}  // namespace

void WriteFileList(leveldb::Env& env, const std::string& directory) {
  leveldb::FileLock* lock = nullptr;
  if (!env.LockFile(directory + "/LOCK", &lock).ok()) return;
  const std::string list = MakeList(env, directory);
  const std::string path = directory + kListFile;
  if (!list.empty() && leveldb::WriteStringToFile(&env, list, path + ".new").ok()) {
    env.RenameFile(path + ".new", path);
  }
  env.UnlockFile(lock);
}

absl::Status CheckFileList(leveldb::Env& env, const std::string& directory) {
  std::string list;
  if (!leveldb::ReadFileToString(&env, directory + kListFile, &list).ok()) return absl::OkStatus();
  const std::vector<std::string> lines = absl::StrSplit(list, '\n');
  if (lines[0].empty() || lines[0] != ReadCurrent(env, directory)) return absl::OkStatus();
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::pair<std::string, std::string> entry =
        absl::StrSplit(lines[i], absl::MaxSplits(' ', 1));
    uint64_t listed = 0;
    uint64_t size = 0;
    if (!absl::SimpleAtoi(entry.first, &listed)) continue;
    const std::string path = absl::StrCat(directory, "/", entry.second);
    if (env.GetFileSize(path, &size).ok() && size == listed) continue;
    return absl::DataLossError(absl::StrCat(path, " has ", size, " bytes, and had ", listed,
                                            " when the database was closed: it is truncated or "
                                            "damaged"));
  }
  return absl::OkStatus();
}

void RemoveFileList(leveldb::Env& env, const std::string& directory) {
  env.RemoveFile(directory + kListFile);
}

}  // namespace ttl
