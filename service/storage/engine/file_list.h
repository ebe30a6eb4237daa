#ifndef TTL_SERVICE_STORAGE_ENGINE_FILE_LIST_H_
#define TTL_SERVICE_STORAGE_ENGINE_FILE_LIST_H_

#include <string>

#include "absl/status/status.h"

namespace leveldb {
class Env;
}

namespace ttl {

// Keeps what files a closed database has and how long they are. LevelDB takes a MANIFEST or
// log that was cut between two of its records for a shorter one, forgets what was in the
// rest, and deletes the tables that only the rest names; with this it is noticed. Only
// after a clean end: a killed process has left no list.

// Writes the list of the database in `directory`, which is closed. No effect if somebody
// has opened it again, or if it cannot be written: a list is a help, not a need.
void WriteFileList(leveldb::Env& env, const std::string& directory);

// DATA_LOSS if a file of the list is missing or has another length. OK if there is no list,
// or if the database has been open since it was written. Before the database is opened.
absl::Status CheckFileList(leveldb::Env& env, const std::string& directory);

// After the database was opened.
void RemoveFileList(leveldb::Env& env, const std::string& directory);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_FILE_LIST_H_
