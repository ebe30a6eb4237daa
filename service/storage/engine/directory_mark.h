#ifndef TTL_SERVICE_STORAGE_ENGINE_DIRECTORY_MARK_H_
#define TTL_SERVICE_STORAGE_ENGINE_DIRECTORY_MARK_H_

#include <string>

#include "absl/status/status.h"

// A mark on a data directory, outside of its files: that a database in it was used. It stays
// when the files are removed, so that a directory that was emptied is told from a new one. It
// is an extended attribute of the directory, and goes with that. On a file system that keeps
// none nothing is known.
namespace ttl {

// The database in `directory` is used. No effect if that cannot be kept.
void MarkUsed(const std::string& directory);

// DATA_LOSS if a database in `directory` was used and none of its files is there any more.
absl::Status CheckNotEmptied(const std::string& directory);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_DIRECTORY_MARK_H_
