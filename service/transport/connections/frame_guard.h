#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_FRAME_GUARD_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_FRAME_GUARD_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace ttl {

// Limits on what a client may do on one HTTP/2 connection (RFC 9113), where gRPC 1.51 has none.
struct FrameLimits {
  // Size of a header block: a HEADERS frame and its CONTINUATION frames.
  int64_t header_block_bytes = 0;
  // Calls begun before the client has acknowledged the server's SETTINGS. After that gRPC enforces
  // the limit in them.
  int64_t unacknowledged_calls = 0;
  // Calls that the client resets (RST_STREAM).
  int64_t resets_per_second = 0;
  // PING frames that need an acknowledgement. gRPC's own limit has no effect on clients that do not
  // read.
  int64_t pings_per_minute = 0;
  // Frames that neither begin, carry nor end a call, and need no answer, such as WINDOW_UPDATE.
  // Calls and responses allow additional ones, since a client acknowledges what it has read.
  int64_t idle_frames_per_second = 0;
  // DATA frames with few bytes, of which any number may belong to no call.
  int64_t small_data_frames_per_second = 0;

  // Limits for connections with at most `calls_at_a_time` concurrent calls. The limit on header
  // blocks is above gRPC's own, which refuses a call with an error message.
  static FrameLimits ForCalls(int64_t calls_at_a_time);
};

// Parses the frame headers that a client sends on one connection and enforces FrameLimits.
// Connections that do not begin with the HTTP/2 preface are ignored. Not thread-safe.
class FrameGuard {
 public:
  enum class Verdict {
    kKeeps,  // within all limits
    kHeaderBlockTooLarge,
    kSettingsNotAcknowledged,
    kTooManyResets,
    kTooManyPings,
    kTooManyIdleFrames,
  };

  FrameGuard() = default;

  // `limits` must outlive this.
  explicit FrameGuard(const FrameLimits& limits) : limits_(&limits), state_(State::kPreface) {}

  // Takes the next bytes, split anywhere, received at `second` of any monotonic clock. After the
  // first violation everything counts as within the limits.
  Verdict Take(absl::string_view bytes, int64_t second);

  // `bytes` were sent to the client.
  void NoteAnswered(int64_t bytes);

 private:
  static constexpr size_t kFrameHeaderBytes = 9;
  enum class State : uint8_t { kOff, kPreface, kFrames };

  // Counts frames of one kind within the present second or minute.
  class Window {
   public:
    // Counts a frame at `now`. Returns false if that makes more than `most`.
    bool Add(int64_t now, int64_t most) {
      if (now != now_) count_ = 0;
      now_ = now;
      return ++count_ <= most;
    }

   private:
    int64_t now_ = 0;
    int64_t count_ = 0;
  };

  void TakePreface(absl::string_view& bytes);
  Verdict TakeFramePart(absl::string_view& bytes, int64_t second);
  Verdict Judge(int64_t second);
  Verdict JudgeHeaderBlock() const;
  Verdict JudgeData(int64_t second);
  Verdict JudgeIdleFrame(int64_t second);
  void Allow(int64_t frames);
  Verdict SpendAllowed();

  const FrameLimits* limits_ = nullptr;
  State state_ = State::kOff;
  bool acknowledged_ = false;
  uint8_t taken_ = 0;  // bytes received of the preface, or of the present frame header
  std::array<uint8_t, kFrameHeaderBytes> header_ = {};
  int64_t payload_left_ = 0;  // bytes of the present frame
  int64_t header_block_bytes_ = 0;
  int64_t unacknowledged_calls_ = 0;
  Window resets_;
  Window pings_;
  Window idle_frames_;
  Window small_data_frames_;
  int64_t answered_bytes_ = 0;  // not yet converted to allowed frames
  int64_t allowed_frames_ = 0;  // in addition to those allowed in each second
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_FRAME_GUARD_H_
