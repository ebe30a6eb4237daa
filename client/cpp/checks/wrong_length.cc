#include "client/cpp/checks/wrong_length.h"

#include "absl/strings/str_cat.h"

namespace ttl {

absl::Status WrongLength(absl::string_view method, absl::string_view list, int got, size_t want) {
  return absl::InternalError(absl::StrCat(method, " was answered with ", got, " ", list, " for ",
                                          want, want == 1 ? " entry" : " entries",
                                          "; there must be one per entry, so none is used"));
}

}  // namespace ttl
