#ifndef TTL_SERVICE_RPC_CHECKS_WIRE_READER_H_
#define TTL_SERVICE_RPC_CHECKS_WIRE_READER_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace ttl {

// Reads a protobuf message from its wire format, field by field
// (protobuf.dev/programming-guides/encoding). Every method returns false if the bytes are
// malformed; the reader must not be used after that. Not thread-safe.
class WireReader {
 public:
  enum WireType : uint32_t {
    kVarint = 0,
    kFixed64 = 1,
    kLengthDelimited = 2,
    kStartGroup = 3,
    kEndGroup = 4,
    kFixed32 = 5
  };

  // The tag of a field of that number and type.
  static constexpr uint32_t Tag(uint32_t field, WireType type) { return field << 3 | type; }

  explicit WireReader(absl::string_view bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool AtEnd() const { return next_ == end_; }

  bool ReadTag(uint32_t& tag);
  bool ReadVarint(uint64_t& value) { return ReadVarint(kMaxVarintBytes, value); }
  bool ReadBytes(absl::string_view& value);

  // Skips the value of a field.
  bool Skip(uint32_t tag) { return SkipField(tag, kMaxGroupDepth); }

 private:
  static constexpr int kMaxGroupDepth = 100;
  // Maximum encoded lengths.
  static constexpr int kMaxVarintBytes = 10;
  static constexpr int kMaxTagBytes = 5;
  static constexpr int kMaxSizeBytes = 5;

  bool ReadVarint(int max_bytes, uint64_t& value);
  bool ReadLongVarint(int max_bytes, uint64_t& value);
  bool SkipField(uint32_t tag, int depth);
  bool SkipGroup(uint32_t field, int depth);
  bool Advance(uint64_t bytes);

  const char* next_;
  const char* const end_;
};

inline bool WireReader::ReadVarint(int max_bytes, uint64_t& value) {
  if (next_ != end_ && static_cast<signed char>(*next_) >= 0) {
    value = static_cast<unsigned char>(*next_++);
    return true;
  }
  return ReadLongVarint(max_bytes, value);
}

inline bool WireReader::ReadTag(uint32_t& tag) {
  uint64_t value = 0;
  if (!ReadVarint(kMaxTagBytes, value)) return false;
  // Higher bits are dropped, as protobuf does.
  tag = static_cast<uint32_t>(value);
  return tag >> 3 != 0;
}

inline bool WireReader::ReadBytes(absl::string_view& value) {
  uint64_t size = 0;
  if (!ReadVarint(kMaxSizeBytes, size)) return false;
  const char* const begin = next_;
  if (!Advance(size)) return false;
  value = absl::string_view(begin, size);
  return true;
}

inline bool WireReader::Advance(uint64_t bytes) {
  if (bytes > static_cast<uint64_t>(end_ - next_)) return false;
  next_ += bytes;
  return true;
}

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_CHECKS_WIRE_READER_H_
