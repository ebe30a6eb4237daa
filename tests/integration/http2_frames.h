#ifndef TTL_TESTS_INTEGRATION_HTTP2_FRAMES_H_
#define TTL_TESTS_INTEGRATION_HTTP2_FRAMES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

// Frames of HTTP/2 (RFC 9113), as a client that means harm would make them: no length,
// flag or order is checked.
namespace ttl::http2 {

// What a client begins with, before its SETTINGS.
inline constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum Type : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kRstStream = 3,
  kSettings = 4,
  kPing = 6,
  kGoaway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
  kUnknown = 0x55,
};

enum Flags : uint8_t { kNone = 0, kAck = 1, kEndStream = 1, kEndHeaders = 4 };

// One frame.
std::string Frame(Type type, uint8_t flags, uint32_t stream, absl::string_view payload);

// A field of a header block: no compression, no table.
std::string HeaderField(absl::string_view name, absl::string_view value);

// The header block of a gRPC call of a method, as in "/package.Service/Method".
std::string RequestHeaders(absl::string_view method);

// A SETTINGS frame with a window for answers of so many bytes.
std::string WindowSettings(uint32_t bytes);

// A message as gRPC frames it. The length it says may be another than it has.
std::string GrpcMessage(absl::string_view message, uint32_t said_length);

}  // namespace ttl::http2

#endif  // TTL_TESTS_INTEGRATION_HTTP2_FRAMES_H_
