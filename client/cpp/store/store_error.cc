#include "client/cpp/store/store_error.h"

#include "absl/strings/str_cat.h"

namespace ttl {

absl::Status StoreError(absl::string_view method, const absl::Status& error) {
  if (absl::IsResourceExhausted(error)) return error;
  return absl::InternalError(absl::StrCat("the store's ", method,
                                          "() failed: ", absl::StatusCodeToString(error.code()),
                                          ": ", error.message()));
}

}  // namespace ttl
