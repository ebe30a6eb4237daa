#include "client/examples/document_store/ttl_condition.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace documentstore {
namespace {

std::string TextOf(int64_t end) { return end == kNever ? "never" : absl::StrCat("at ", end); }

bool Holds(v1::TtlCondition condition, int64_t present, int64_t next) {
  switch (condition) {
    case v1::TTL_CONDITION_NX:
      return present == kNever;
    case v1::TTL_CONDITION_XX:
      return present != kNever;
    case v1::TTL_CONDITION_GT:
      return next > present;
    case v1::TTL_CONDITION_LT:
      return next < present;
    default:
      return true;
  }
}

}  // namespace

int64_t EndOf(const storage::v1::DocumentRecord& record, int64_t ts) {
  const int64_t by_ttl = record.ttl() == -1 ? kNever : ts + record.ttl();
  return record.has_expire_at() ? std::min(by_ttl, record.expire_at()) : by_ttl;
}

absl::Status RequireCondition(v1::TtlCondition condition, std::optional<int64_t> present,
                              int64_t next) {
  if (!v1::TtlCondition_IsValid(condition)) {
    return absl::InvalidArgumentError(
        absl::StrCat("condition is ", static_cast<int>(condition), "; 0 to 4 are allowed"));
  }
  if (condition == v1::TTL_CONDITION_UNSPECIFIED) return absl::OkStatus();
  if (!present.has_value()) {
    return absl::UnavailableError("the sidecar does not know when the document ends; try again");
  }
  if (Holds(condition, *present, next)) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("condition is ", v1::TtlCondition_Name(condition),
                                         " but the document ends ", TextOf(*present),
                                         " and would end ", TextOf(next)));
}

}  // namespace documentstore
