#include "service/rpc/checks/wire_reader.h"

namespace ttl {

// Bits beyond 64 are dropped, as protobuf does.
bool WireReader::ReadLongVarint(int max_bytes, uint64_t& value) {
  uint64_t sum = 0;
  const char* next = next_;
  for (int i = 0; i < max_bytes && next != end_; ++i) {
    const auto byte = static_cast<unsigned char>(*next++);
    sum |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte >= 0x80) continue;
    next_ = next;
    value = sum;
    return true;
  }
  return false;
}

bool WireReader::SkipField(uint32_t tag, int depth) {
  uint64_t varint = 0;
  absl::string_view bytes;
  switch (tag & 7) {
    case kVarint:
      return ReadVarint(varint);
    case kFixed64:
      return Advance(8);
    case kLengthDelimited:
      return ReadBytes(bytes);
    case kStartGroup:
      return depth > 0 && SkipGroup(tag >> 3, depth - 1);
    case kFixed32:
      return Advance(4);
    default:
      return false;
  }
}

bool WireReader::SkipGroup(uint32_t field, int depth) {
  uint32_t tag = 0;
  while (ReadTag(tag)) {
    if ((tag & 7) == kEndGroup) return tag >> 3 == field;
    if (!SkipField(tag, depth)) return false;
  }
  return false;
}

}  // namespace ttl
