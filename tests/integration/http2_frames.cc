#include "tests/integration/http2_frames.h"

#include "absl/strings/str_cat.h"

namespace ttl::http2 {
namespace {

void AppendNumber(uint64_t number, int bytes, std::string& out) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(number >> shift));
  }
}

// HPACK's integer with a prefix of seven bits, and the text; short texts only.
void AppendText(absl::string_view text, std::string& out) {
  constexpr size_t kPrefixMax = 127;
  if (text.size() < kPrefixMax) {
    out.push_back(static_cast<char>(text.size()));
  } else {
    out.push_back(static_cast<char>(kPrefixMax));
    size_t rest = text.size() - kPrefixMax;
    for (; rest >= 128; rest >>= 7) out.push_back(static_cast<char>(rest | 128));
    out.push_back(static_cast<char>(rest));
  }
  absl::StrAppend(&out, text);
}

}  // namespace

std::string Frame(Type type, uint8_t flags, uint32_t stream, absl::string_view payload) {
  std::string frame;
  AppendNumber(payload.size(), 3, frame);
  AppendNumber(type, 1, frame);
  AppendNumber(flags, 1, frame);
  AppendNumber(stream, 4, frame);
  absl::StrAppend(&frame, payload);
  return frame;
}

std::string HeaderField(absl::string_view name, absl::string_view value) {
  std::string field(1, '\0');
  AppendText(name, field);
  AppendText(value, field);
  return field;
}

std::string RequestHeaders(absl::string_view method) {
  return absl::StrCat(HeaderField(":method", "POST"), HeaderField(":scheme", "http"),
                      HeaderField(":path", method), HeaderField(":authority", "localhost"),
                      HeaderField("te", "trailers"),
                      HeaderField("content-type", "application/grpc"));
}

std::string WindowSettings(uint32_t bytes) {
  constexpr int kInitialWindowSize = 4;
  std::string setting;
  AppendNumber(kInitialWindowSize, 2, setting);
  AppendNumber(bytes, 4, setting);
  return Frame(kSettings, kNone, 0, setting);
}

std::string GrpcMessage(absl::string_view message, uint32_t said_length) {
  std::string framed(1, '\0');
  AppendNumber(said_length, 4, framed);
  return absl::StrCat(framed, message);
}

}  // namespace ttl::http2
