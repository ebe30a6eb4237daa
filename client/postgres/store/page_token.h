#ifndef TTL_CLIENT_POSTGRES_STORE_PAGE_TOKEN_H_
#define TTL_CLIENT_POSTGRES_STORE_PAGE_TOKEN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// Encodes the position after the row with this key (RowSelect::KeyOf()), for
// ScanItemsResponse.next_page_token, as length-prefixed texts.
std::string EncodePageToken(const std::vector<Connection::Parameter>& key);

// INVALID_ARGUMENT if `token` does not encode a key of `columns` columns.
absl::StatusOr<std::vector<Connection::Parameter>> DecodePageToken(absl::string_view token,
                                                                   size_t columns);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_PAGE_TOKEN_H_
