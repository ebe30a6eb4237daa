// Sends frames that carry no call to a port in plain text, as fast as they are taken, reads no
// answer, and connects again at once when it is cut off.
//
//   flooder --port 8081 --kind window-update
//
// Runs until it is killed.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "tests/integration/http2_frames.h"
#include "tests/integration/raw_http2.h"

namespace {

namespace http2 = ttl::http2;

constexpr int kFramesAtOnce = 2000;

struct Kind {
  http2::Type type;
  uint8_t flags = http2::kNone;
  uint32_t stream = 0;
  size_t payload = 0;
};

const std::map<std::string, Kind>& Kinds() {
  // Of a stream that there is not, where that is no error.
  static const auto* const kinds = new std::map<std::string, Kind>{
      {"window-update", {.type = http2::kWindowUpdate, .stream = 1001, .payload = 4}},
      {"settings", {.type = http2::kSettings}},
      {"ping-ack", {.type = http2::kPing, .flags = http2::kAck, .payload = 8}},
      {"unknown", {.type = http2::kUnknown, .payload = 100}},
      {"empty-data", {.type = http2::kData, .stream = 1001}},
      {"goaway", {.type = http2::kGoaway, .payload = 8}},
  };
  return *kinds;
}

std::string FramesOf(const Kind& kind) {
  std::string frames;
  for (int i = 0; i < kFramesAtOnce; ++i) {
    frames += http2::Frame(kind.type, kind.flags, kind.stream, std::string(kind.payload, '\1'));
  }
  return frames;
}

[[noreturn]] void Flood(int port, const std::string& frames) {
  while (true) {
    ttl::RawHttp2 connection(port);
    if (!connection.Send(http2::WindowSettings(0))) continue;
    while (connection.Send(frames)) continue;
  }
}

}  // namespace

int main(int argc, char** argv) {
  int port = 0;
  std::string kind;
  CLI::App app("Frames for nothing");
  app.add_option("--port", port, "Of this host")->required();
  app.add_option("--kind", kind, "Of the frames")->required()->check(CLI::IsMember(Kinds()));
  CLI11_PARSE(app, argc, argv);
  Flood(port, FramesOf(Kinds().at(kind)));
}
