#ifndef TTL_CLIENT_POSTGRES_CAPTURE_STREAM_WIRE_CURSOR_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_STREAM_WIRE_CURSOR_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ttl::postgres {

// Consumes values of PostgreSQL's wire format from the front of a byte string. Once bytes are
// missing, ok() stays false, and values are 0 or empty.
class WireCursor {
 public:
  explicit WireCursor(absl::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t left() const { return bytes_.size(); }

  char TakeByte() {
    const absl::string_view byte = TakeBytes(1);
    return byte.empty() ? '\0' : byte.front();
  }
  uint16_t TakeInt16() { return static_cast<uint16_t>(TakeNumber(2)); }
  uint32_t TakeInt32() { return static_cast<uint32_t>(TakeNumber(4)); }
  uint64_t TakeInt64() { return TakeNumber(8); }

  // Microseconds since 2000-01-01.
  absl::Time TakeTime() {
    return absl::FromUnixSeconds(kPostgresEpoch) +
           absl::Microseconds(static_cast<int64_t>(TakeInt64()));
  }

  absl::string_view TakeBytes(size_t size) {
    ok_ = ok_ && size <= bytes_.size();
    if (!ok_) return bytes_ = {};
    const absl::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  // Zero-terminated text.
  absl::string_view TakeText() {
    const size_t end = bytes_.find('\0');
    const absl::string_view text = TakeBytes(end == absl::string_view::npos ? left() + 1 : end);
    TakeBytes(1);
    return text;
  }

 private:
  static constexpr int64_t kPostgresEpoch = 946'684'800;  // in Unix seconds

  // Big-endian.
  uint64_t TakeNumber(size_t size) {
    uint64_t number = 0;
    for (const char byte : TakeBytes(size)) number = number << 8 | static_cast<uint8_t>(byte);
    return number;
  }

  absl::string_view bytes_;
  bool ok_ = true;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_STREAM_WIRE_CURSOR_H_
