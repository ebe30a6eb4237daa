#ifndef TTL_SERVICE_STORAGE_ENGINE_LOCK_OWNER_H_
#define TTL_SERVICE_STORAGE_ENGINE_LOCK_OWNER_H_

#include <sys/types.h>

#include <optional>
#include <string>

namespace ttl {

// The other process that has locked the file at `path`; absent if none has, if it is in
// another namespace of processes, or if that cannot be found out. REQUIRES: this process has
// not locked the file, for it would lose the lock.
std::optional<pid_t> LockOwner(const std::string& path);

// "another process has it open", with the number of the process that has locked the file at
// `path` where that is known. REQUIRES: as above.
std::string DescribeLockOwner(const std::string& path);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_LOCK_OWNER_H_
