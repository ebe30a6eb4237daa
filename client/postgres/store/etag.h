#ifndef TTL_CLIENT_POSTGRES_STORE_ETAG_H_
#define TTL_CLIENT_POSTGRES_STORE_ETAG_H_

#include "absl/strings/string_view.h"
#include "client/postgres/row/transaction_snapshot.h"

namespace ttl::postgres {

// Whether the transaction of an etag (a 32-bit xid as a decimal number) had ended, as far as the
// snapshot can tell. True for a text that is not such a number.
bool HasEnded(absl::string_view etag, const TransactionSnapshot& snapshot);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_ETAG_H_
