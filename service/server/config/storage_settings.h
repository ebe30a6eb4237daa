#ifndef TTL_SERVICE_SERVER_CONFIG_STORAGE_SETTINGS_H_
#define TTL_SERVICE_SERVER_CONFIG_STORAGE_SETTINGS_H_

#include "service/base/wake_signal.h"
#include "service/server/config/config.h"
#include "service/storage/engine/storage_options.h"

namespace ttl {

// Options of the database in --data-dir, whose messages go to the log. `due_signal` is notified
// when an item becomes due earlier than known before, `unannounced_signal` when something may have
// to be announced in a feed; they must outlive the database, and may be null.
StorageOptions ToStorageOptions(const ServerConfig& config, WakeSignal* due_signal,
                                WakeSignal* unannounced_signal = nullptr);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_STORAGE_SETTINGS_H_
