#ifndef TTL_SERVICE_STORAGE_ENGINE_LOCK_OWNER_H_
#define TTL_SERVICE_STORAGE_ENGINE_LOCK_OWNER_H_

#include <sys/types.h>

#include <optional>
#include <string>

namespace ttl {

// The other process that has locked the file at `path`; absent if there is none, if it is in
// another PID namespace, or if it cannot be determined. REQUIRES: this process has not locked the
// file, because it would lose the lock.
std::optional<pid_t> LockOwner(const std::string& path);

// "another process has it open", with the PID of the process that has locked the file at `path`, if
// known. REQUIRES: as above.
std::string DescribeLockOwner(const std::string& path);

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_ENGINE_LOCK_OWNER_H_
