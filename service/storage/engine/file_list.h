#ifndef TTL_SERVICE_STORAGE_ENGINE_FILE_LIST_H_
#define TTL_SERVICE_STORAGE_ENGINE_FILE_LIST_H_

#include <string>

#include "absl/status/status.h"

namespace leveldb {
class Env;
}

namespace ttl {

// A list of the files of a closed database and their sizes. If a MANIFEST or log was truncated
// between two of its records, LevelDB takes it for a shorter one, forgets the rest, and deletes the
// tables that only the rest names; the list detects this. It exists only after a clean shutdown: a
// killed process leaves none.

// Writes the list for the database in `directory`, which is closed. No effect if another process
// has opened it again, or if the list cannot be written, because it is not essential.
void WriteFileList(leveldb::Env& env, const std::string& directory);

// Call it before the database is opened. DATA_LOSS if a file of the list is missing or has another
// size. OK if there is no list, or if the database was opened since it was written.
absl::Status CheckFileList(leveldb::Env& env, const std::string& directory);

// Call it after the database was opened.
void RemoveFileList(leveldb::Env& env, const std::string& directory);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_FILE_LIST_H_
