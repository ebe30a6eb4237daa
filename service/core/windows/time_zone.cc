#include "service/core/windows/time_zone.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "service/base/mutex.h"
#include "service/base/quoted.h"

// absl::LoadTimeZone() reads more than the database: files by their path, the local zone of the
// machine, zones named by their offset. And it remembers every name that it could not load, for as
// long as the process runs. So it is given only names, and only of files that are there.
namespace ttl {
namespace {

constexpr size_t kMaxNameBytes = 64;

bool IsInDatabase(const std::string& name) {
  const char* folder = std::getenv("TZDIR");
  const std::string path = absl::StrCat(
      folder != nullptr && *folder != '\0' ? folder : "/usr/share/zoneinfo", "/", name);
  struct stat file = {};
  return stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode);
}

// The zones that have been loaded, of which the database has some hundreds.
class LoadedZones {
 public:
  std::optional<absl::TimeZone> Find(const std::string& name) {
    MutexLock lock(mutex_);
    const auto found = zones_.find(name);
    if (found != zones_.end()) return found->second;
    absl::TimeZone zone;
    if (!IsTimeZoneName(name) || !IsInDatabase(name) || !absl::LoadTimeZone(name, &zone)) {
      return std::nullopt;
    }
    zones_.emplace(name, zone);
    return zone;
  }

 private:
  Mutex mutex_;
  absl::flat_hash_map<std::string, absl::TimeZone> zones_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

bool IsTimeZoneName(absl::string_view name) {
  if (name.empty()) return true;
  const auto fits = [](char c) {
    return absl::ascii_isalnum(c) || c == '/' || c == '_' || c == '+' || c == '-';
  };
  return name.size() <= kMaxNameBytes && absl::ascii_isalpha(name[0]) && name != "localtime" &&
         std::all_of(name.begin(), name.end(), fits);
}

std::string ShownTimeZone(absl::string_view name) { return Quoted(name, kMaxNameBytes); }

std::optional<absl::TimeZone> FindTimeZone(const std::string& name) {
  if (name.empty() || name == "UTC") return absl::UTCTimeZone();
  static LoadedZones& loaded = *new LoadedZones();
  return loaded.Find(name);
}

}  // namespace ttl
