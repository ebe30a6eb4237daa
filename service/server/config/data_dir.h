#ifndef TTL_SERVICE_SERVER_CONFIG_DATA_DIR_H_
#define TTL_SERVICE_SERVER_CONFIG_DATA_DIR_H_

#include <string>

#include "absl/status/statusor.h"

namespace ttl {

// Makes files that this process creates from now on accessible to its user only, unless their mode
// is set afterwards. Changes the umask of the process: call it before threads exist.
void KeepNewFilesPrivate();

// Creates the directory with mode 0700 if it does not exist; its parent must exist. Returns whether
// it was created. Logs a warning if an existing directory is accessible to others.
// INVALID_ARGUMENT, with the reason, if it cannot be created.
absl::StatusOr<bool> MakeDataDir(const std::string& data_dir);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_DATA_DIR_H_
