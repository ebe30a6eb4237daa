#ifndef TTL_SERVICE_STORAGE_UPKEEP_BACKUP_CRC_H_
#define TTL_SERVICE_STORAGE_UPKEEP_BACKUP_CRC_H_

#include <zlib.h>

#include <cstdint>

#include "absl/strings/string_view.h"

namespace ttl {

// The CRC-32 of the bytes that `crc` covers followed by `bytes`. The CRC of no bytes is 0.
inline uint32_t ExtendCrc(uint32_t crc, absl::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_UPKEEP_BACKUP_CRC_H_
