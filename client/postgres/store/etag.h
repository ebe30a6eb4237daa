#ifndef TTL_CLIENT_POSTGRES_STORE_ETAG_H_
#define TTL_CLIENT_POSTGRES_STORE_ETAG_H_

#include "absl/strings/string_view.h"
#include "client/postgres/row/transaction_snapshot.h"

namespace ttl::postgres {

// Whether the transaction that an etag names (an xid of 32 bits as a decimal number) had
// ended, for all that the snapshot can say of it. A text that is no such number names none: true.
bool HasEnded(absl::string_view etag, const TransactionSnapshot& snapshot);

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_ETAG_H_
