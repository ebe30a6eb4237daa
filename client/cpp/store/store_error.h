#ifndef TTL_CLIENT_CPP_STORE_STORE_ERROR_H_
#define TTL_CLIENT_CPP_STORE_STORE_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ttl {

// The status of a call that failed because `method` of the store returned `error`: INTERNAL with
// the code and the message of `error`, because the sidecar reads other codes as answers of the API,
// such as FAILED_PRECONDITION for another store. RESOURCE_EXHAUSTED stays as it is.
absl::Status StoreError(absl::string_view method, const absl::Status& error);

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_STORE_STORE_ERROR_H_
