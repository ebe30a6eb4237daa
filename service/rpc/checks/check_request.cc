#include "service/rpc/checks/check_request.h"

#include "service/base/error_details.h"
#include "service/rpc/checks/wire_reader.h"

namespace ttl {
namespace {

// Fields of ttl/v1/item_service.proto. A field of another wire type counts as unknown.
constexpr uint32_t kContainerTag = WireReader::Tag(1, WireReader::kLengthDelimited);
constexpr uint32_t kCheckTag = WireReader::Tag(2, WireReader::kLengthDelimited);
constexpr uint32_t kAsOfTag = WireReader::Tag(3, WireReader::kLengthDelimited);
constexpr uint32_t kPartitionKeyTag = WireReader::Tag(1, WireReader::kLengthDelimited);
constexpr uint32_t kIdTag = WireReader::Tag(2, WireReader::kLengthDelimited);
constexpr uint32_t kTsTag = WireReader::Tag(3, WireReader::kVarint);
constexpr uint32_t kTtlTag = WireReader::Tag(4, WireReader::kVarint);
constexpr uint32_t kExpireAtTag = WireReader::Tag(5, WireReader::kVarint);
// Fields of google.protobuf.Timestamp.
constexpr uint32_t kSecondsTag = WireReader::Tag(1, WireReader::kVarint);
constexpr uint32_t kNanosTag = WireReader::Tag(2, WireReader::kVarint);
constexpr uint32_t kStreamedRequestTag = WireReader::Tag(1, WireReader::kLengthDelimited);

inline bool ReadInt64(WireReader& reader, std::optional<int64_t>& value) {
  uint64_t varint = 0;
  if (!reader.ReadVarint(varint)) return false;
  value = static_cast<int64_t>(varint);
  return true;
}

bool ReadCheck(absl::string_view bytes, Check& check) {
  WireReader reader(bytes);
  std::optional<int64_t> ts;
  std::optional<int64_t> ttl;
  std::optional<int64_t> expire_at;
  while (!reader.AtEnd()) {
    uint32_t tag = 0;
    if (!reader.ReadTag(tag)) return false;
    const bool read = tag == kPartitionKeyTag ? reader.ReadBytes(check.partition_key)
                      : tag == kIdTag         ? reader.ReadBytes(check.id)
                      : tag == kTsTag         ? ReadInt64(reader, ts)
                      : tag == kTtlTag        ? ReadInt64(reader, ttl)
                      : tag == kExpireAtTag   ? ReadInt64(reader, expire_at)
                                              : reader.Skip(tag);
    if (!read) return false;
  }
  if (ts.has_value()) check.carried = ItemTimes{*ts, ttl, expire_at};
  return true;
}

absl::Status Malformed() {
  return MakeError(Reason::kUnreadableCheck, "the request is not a valid CheckVisibilityRequest");
}

}  // namespace

void CheckRequest::Clear() {
  container_ = {};
  checks_.clear();
  count_ = 0;
  has_as_of_ = false;
  as_of_seconds_ = 0;
  as_of_nanos_ = 0;
}

absl::Status CheckRequest::Parse(absl::string_view bytes) {
  Clear();
  if (Read(bytes)) return absl::OkStatus();
  Clear();
  return Malformed();
}

absl::Status CheckRequest::ParseStreamed(absl::string_view bytes) {
  Clear();
  if (ReadStreamed(bytes)) return absl::OkStatus();
  Clear();
  return Malformed();
}

bool CheckRequest::Read(absl::string_view bytes) {
  WireReader reader(bytes);
  while (!reader.AtEnd()) {
    uint32_t tag = 0;
    if (!reader.ReadTag(tag)) return false;
    if (tag == kCheckTag) {
      absl::string_view check;
      if (!reader.ReadBytes(check)) return false;
      // One more than is allowed is kept, and shows that there are too many.
      if (++count_ <= kMaxChecksPerCall + 1) checks_.emplace_back();
      if (!ReadCheck(check, checks_.back())) return false;
    } else if (tag == kContainerTag) {
      if (!reader.ReadBytes(container_)) return false;
    } else if (tag == kAsOfTag) {
      absl::string_view as_of;
      if (!reader.ReadBytes(as_of) || !ReadAsOf(as_of)) return false;
    } else if (!reader.Skip(tag)) {
      return false;
    }
  }
  return true;
}

// As in protobuf, repeated occurrences of the field are merged.
bool CheckRequest::ReadAsOf(absl::string_view bytes) {
  WireReader reader(bytes);
  has_as_of_ = true;
  while (!reader.AtEnd()) {
    uint32_t tag = 0;
    uint64_t value = 0;
    if (!reader.ReadTag(tag)) return false;
    if (tag != kSecondsTag && tag != kNanosTag) {
      if (!reader.Skip(tag)) return false;
      continue;
    }
    if (!reader.ReadVarint(value)) return false;
    if (tag == kSecondsTag) as_of_seconds_ = static_cast<int64_t>(value);
    if (tag == kNanosTag) as_of_nanos_ = static_cast<int32_t>(value);
  }
  return true;
}

// The same for the request in a message of a stream.
bool CheckRequest::ReadStreamed(absl::string_view bytes) {
  WireReader reader(bytes);
  while (!reader.AtEnd()) {
    uint32_t tag = 0;
    absl::string_view request;
    if (!reader.ReadTag(tag)) return false;
    const bool read =
        tag == kStreamedRequestTag ? reader.ReadBytes(request) && Read(request) : reader.Skip(tag);
    if (!read) return false;
  }
  return true;
}

}  // namespace ttl
