#include "service/storage/engine/live_logs.h"

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "service/base/status_macros.h"
#include "service/storage/engine/log_tail.h"
#include "service/storage/engine/sync_directory.h"

// The first line of the file is the number of a MANIFEST, each other one that of a log.
//
// A program that does not keep the file may open the database in between, and remove the
// logs that it names. Every opening makes a MANIFEST with a larger number, and CURRENT name
// it. So the file is believed unless CURRENT names a larger one than it does itself; it is
// written before CURRENT, and names the larger one if there was a kill between the two.

namespace ttl {
namespace {

constexpr char kFile[] = "/live-logs";

std::string LogPath(const std::string& directory, uint64_t number) {
  return absl::StrCat(directory, "/", absl::Dec(number, absl::kZeroPad6), ".log");
}

// 0 if it is no such name.
uint64_t LogNumber(const std::string& path) {
  uint64_t number = 0;
  return absl::SimpleAtoi(std::filesystem::path(path).stem().string(), &number) ? number : 0;
}

uint64_t ManifestNumber(absl::string_view name) {
  uint64_t number = 0;
  absl::ConsumePrefix(&name, "MANIFEST-");
  return absl::SimpleAtoi(name, &number) ? number : 0;
}

leveldb::Status WriteSynced(leveldb::Env& env, const std::string& path, const std::string& text) {
  leveldb::WritableFile* opened = nullptr;
  leveldb::Status status = env.NewWritableFile(path, &opened);
  if (!status.ok()) return status;
  const std::unique_ptr<leveldb::WritableFile> file(opened);
  status = file->Append(text);
  if (status.ok()) status = file->Sync();
  const leveldb::Status closed = file->Close();
  return status.ok() ? closed : status;
}

leveldb::Status Replace(leveldb::Env& env, const std::string& directory, const std::string& text) {
  const std::string path = directory + kFile;
  leveldb::Status status = WriteSynced(env, path + ".new", text);
  if (status.ok()) status = env.RenameFile(path + ".new", path);
  if (!status.ok()) return status;
  const absl::Status synced = SyncDirectory(directory);
  if (synced.ok()) return status;
  return leveldb::Status::IOError(path, std::string(synced.message()));
}

// The numbers in the file; empty if there is none.
absl::StatusOr<std::vector<uint64_t>> ReadNumbers(leveldb::Env& env, const std::string& path) {
  std::vector<uint64_t> numbers;
  std::string text;
  const leveldb::Status read = leveldb::ReadFileToString(&env, path, &text);
  if (read.IsNotFound()) return numbers;
  if (!read.ok()) return absl::UnavailableError(read.ToString());
  const std::vector<absl::string_view> lines = absl::StrSplit(absl::StripSuffix(text, "\n"), '\n');
  for (const absl::string_view line : lines) {
    uint64_t number = 0;
    if (!absl::SimpleAtoi(line, &number)) {
      return absl::DataLossError(
          absl::StrCat(path, " is damaged: it has a line that is not a number"));
    }
    numbers.push_back(number);
  }
  return numbers;
}

absl::Status CheckLog(leveldb::Env& env, const std::string& path) {
  leveldb::SequentialFile* opened = nullptr;
  const leveldb::Status status = env.NewSequentialFile(path, &opened);
  if (status.IsNotFound()) {
    return absl::DataLossError(absl::StrCat(path, " is missing: the writes in it are lost"));
  }
  if (!status.ok()) return absl::UnavailableError(status.ToString());
  const std::unique_ptr<leveldb::SequentialFile> log(opened);
  TTL_ASSIGN_OR_RETURN(const bool is_whole, EndsInZeros(*log));
  if (is_whole) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(path, " is empty or truncated: the last writes in it are lost"));
}

}  // namespace

absl::Status LiveLogs::Load(const std::string& directory) {
  TTL_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, ReadNumbers(env_, directory + kFile));
  std::string current;
  leveldb::ReadFileToString(&env_, directory + "/CURRENT", &current);
  const uint64_t manifest = ManifestNumber(absl::StripSuffix(current, "\n"));
  {
    const MutexLock lock(mutex_);
    directory_ = directory;
    manifest_ = manifest;
    logs_.clear();
    if (numbers.empty() || numbers[0] < manifest) return absl::OkStatus();
    logs_.insert(numbers.begin() + 1, numbers.end());
  }
  return Check();
}

absl::Status LiveLogs::Check() const {
  const MutexLock lock(mutex_);
  for (const uint64_t number : logs_) {
    TTL_RETURN_IF_ERROR(CheckLog(env_, LogPath(directory_, number)));
  }
  return absl::OkStatus();
}

leveldb::Status LiveLogs::Add(const std::string& path) {
  const MutexLock lock(mutex_);
  std::set<uint64_t> logs = logs_;
  logs.insert(LogNumber(path));
  return Save(manifest_, logs);
}

leveldb::Status LiveLogs::Remove(const std::string& path) {
  const MutexLock lock(mutex_);
  std::set<uint64_t> logs = logs_;
  return logs.erase(LogNumber(path)) == 0 ? leveldb::Status::OK() : Save(manifest_, logs);
}

leveldb::Status LiveLogs::SetManifest(absl::string_view manifest) {
  const MutexLock lock(mutex_);
  return Save(ManifestNumber(manifest), logs_);
}

leveldb::Status LiveLogs::Save(uint64_t manifest, const std::set<uint64_t>& logs) {
  if (directory_.empty()) return leveldb::Status::OK();
  std::string text = absl::StrCat(manifest, "\n");
  for (const uint64_t number : logs) absl::StrAppend(&text, number, "\n");
  const leveldb::Status saved = Replace(env_, directory_, text);
  if (!saved.ok()) return saved;
  manifest_ = manifest;
  logs_ = logs;
  return saved;
}

}  // namespace ttl
