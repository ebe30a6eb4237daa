#ifndef TTL_CLIENT_POSTGRES_STORE_PAGE_TOKEN_H_
#define TTL_CLIENT_POSTGRES_STORE_PAGE_TOKEN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/postgres/sql/connect/connection.h"

namespace ttl::postgres {

// The place in a table behind the row with that key (RowSelect::KeyOf()), for
// ScanItemsResponse.next_page_token: each text after its length.
std::string EncodePageToken(const std::vector<Connection::Parameter>& key);

// INVALID_ARGUMENT if `token` is not that of a key of so many columns.
absl::StatusOr<std::vector<Connection::Parameter>> DecodePageToken(absl::string_view token,
                                                                   size_t columns);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_PAGE_TOKEN_H_
