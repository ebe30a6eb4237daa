#ifndef TTL_CLIENT_POSTGRES_ROW_LSN_H_
#define TTL_CLIENT_POSTGRES_ROW_LSN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ttl::postgres {

// Formats an LSN as PostgreSQL does: 16/B374D848.
std::string FormatLsn(uint64_t lsn);
absl::StatusOr<uint64_t> ParseLsn(absl::string_view text);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_ROW_LSN_H_
