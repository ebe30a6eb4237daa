// Requests for checks, as they come from the wire: CheckRequest reads what the generated
// class reads, and refuses what that refuses.

#include <google/protobuf/unknown_field_set.h>

#include <string>

#include "client/ttlctl/input/key_text.h"
#include "service/base/proto_time.h"
#include "service/rpc/checks/check_request.h"
#include "tests/fuzz/fuzz_input.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl {
namespace {

void RequireSame(const Check& check, const v1::VisibilityCheck& want) {
  Require(check.partition_key == want.partition_key(), "same partition key");
  Require(check.id == want.id(), "same id");
  Require(check.carried.has_value() == want.has_ts(), "both carry a state, or none does");
  if (!want.has_ts()) return;
  ItemTimes carried = {.ts = want.ts()};
  if (want.has_ttl()) carried.ttl = want.ttl();
  if (want.has_expire_at()) carried.expire_at = want.expire_at();
  Require(check.carried == carried, "same carried state");
}

void RequireSame(const CheckRequest& ours, const v1::CheckVisibilityRequest& want) {
  Require(ours.container() == want.container(), "same container");
  Require(ours.count() == static_cast<size_t>(want.checks_size()), "as many checks");
  std::optional<absl::Time> as_of;
  if (want.has_as_of()) as_of = FromProto(want.as_of());
  Require(ours.as_of() == as_of, "the same instant");
  const size_t kept = ours.checks().size();
  Require(kept == std::min<size_t>(ours.count(), kMaxChecksPerCall + 1), "bounded checks");
  for (size_t i = 0; i < kept && i < kMaxChecksPerCall; ++i) {
    RequireSame(ours.checks()[i], want.checks(static_cast<int>(i)));
  }
}

// Whether the container is, somewhere, what only the generated class refuses.
bool NamesContainerInOtherThanUtf8(absl::string_view request) {
  google::protobuf::UnknownFieldSet fields;
  fields.ParseFromArray(request.data(), static_cast<int>(request.size()));
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    const bool is_container = field.number() == 1 &&
                              field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    if (is_container && !IsUtf8(field.length_delimited())) return true;
  }
  return false;
}

void CompareUnary(absl::string_view bytes) {
  CheckRequest ours;
  v1::CheckVisibilityRequest want;
  const bool is_read = ours.Parse(bytes).ok();
  if (want.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    Require(is_read, "what the generated class accepts");
    RequireSame(ours, want);
  } else {
    Require(!is_read || NamesContainerInOtherThanUtf8(bytes), "what the generated class refuses");
  }
}

void CompareStreamed(absl::string_view bytes) {
  CheckRequest ours;
  v1::StreamCheckVisibilityRequest want;
  const bool is_read = ours.ParseStreamed(bytes).ok();
  if (!want.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  Require(is_read, "what the generated class accepts on a stream");
  RequireSame(ours, want.request());
}

}  // namespace
}  // namespace ttl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  ttl::CompareUnary(bytes);
  ttl::CompareStreamed(bytes);
  return 0;
}
