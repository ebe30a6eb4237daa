#ifndef TTL_SERVICE_STORAGE_ENGINE_DIRECTORY_MARK_H_
#define TTL_SERVICE_STORAGE_ENGINE_DIRECTORY_MARK_H_

#include <string>

#include "absl/status/status.h"

// A mark on a data directory, outside its files, that a database in it was used. It remains when
// the files are removed, so that an emptied directory can be told from a new one. It is an extended
// attribute of the directory and is removed with it. On a file system without extended attributes
// nothing is known.
namespace ttl {

// Marks that the database in `directory` is used. No effect if the mark cannot be stored.
void MarkUsed(const std::string& directory);

// DATA_LOSS if a database in `directory` was used and none of its files is left.
absl::Status CheckNotEmptied(const std::string& directory);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_DIRECTORY_MARK_H_
