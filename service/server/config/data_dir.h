#ifndef TTL_SERVICE_SERVER_CONFIG_DATA_DIR_H_
#define TTL_SERVICE_SERVER_CONFIG_DATA_DIR_H_

#include <string>

#include "absl/status/statusor.h"

namespace ttl {

// Lets what this process makes from now on be used by its user alone, unless a mode is set
// for it afterwards. For the whole process; to be called before there are threads.
void KeepNewFilesPrivate();

// Makes the directory, for its user alone, if it is not there; its parent must be there. Returns
// whether it was made. Logs a warning about one that others may look into: its files were not
// made private, or are no longer. INVALID_ARGUMENT says why it cannot be made.
absl::StatusOr<bool> MakeDataDir(const std::string& data_dir);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_DATA_DIR_H_
