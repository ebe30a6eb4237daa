#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_FRAME_GUARD_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_FRAME_GUARD_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace ttl {

// Most that a client may do on one connection of HTTP/2 (RFC 9113), for what gRPC 1.51
// does not bound by itself.
struct FrameLimits {
  // Of one header block: the frame of type HEADERS and those that continue it.
  int64_t header_block_bytes = 0;
  // Calls begun before it has acknowledged the server's SETTINGS, from which on gRPC holds
  // it to the number of calls that they allow.
  int64_t unacknowledged_calls = 0;
  // Calls taken back (RST_STREAM).
  int64_t resets_per_second = 0;
  // Of those that ask for an answer. gRPC's policy on pings ends only connections of those
  // who read.
  int64_t pings_per_minute = 0;
  // Of those that neither begin, carry nor end a call, nor ask for an answer. Calls and what is
  // answered to them allow more: a client says how much of it was read.
  int64_t idle_frames_per_second = 0;
  // The same of those that carry little of a message: any number of them may be for no call.
  int64_t small_data_frames_per_second = 0;

  // For connections that may have so many calls at a time. The header block leaves room
  // above what gRPC refuses with a message, which says more than an end of the connection.
  static FrameLimits ForCalls(int64_t calls_at_a_time);
};

// Reads what a client sends on one connection, as far as it takes to judge that. What does
// not begin as HTTP/2 does is none of its business. Not thread-safe.
class FrameGuard {
 public:
  enum class Verdict {
    kKeeps,  // to its limits
    kHeaderBlockTooLarge,
    kSettingsNotAcknowledged,
    kTooManyResets,
    kTooManyPings,
    kTooManyIdleFrames,
  };

  FrameGuard() = default;

  // `limits` must outlive it.
  explicit FrameGuard(const FrameLimits& limits) : limits_(&limits), state_(State::kPreface) {}

  // The next bytes, in any pieces, read at `second`, of any clock that goes on. What breaks
  // a limit ends the watch: what follows keeps to them.
  Verdict Take(absl::string_view bytes, int64_t second);

  // So much was sent to the client.
  void NoteAnswered(int64_t bytes);

 private:
  static constexpr size_t kFrameHeaderBytes = 9;
  enum class State : uint8_t { kOff, kPreface, kFrames };

  // Frames of a kind within the present second or minute of the clock.
  class Window {
   public:
    // One more, in `now`. False if that is more than `most`.
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
  uint8_t taken_ = 0;  // bytes of the preface, or of the header of the present frame
  std::array<uint8_t, kFrameHeaderBytes> header_ = {};
  int64_t payload_left_ = 0;  // bytes of the present frame
  int64_t header_block_bytes_ = 0;
  int64_t unacknowledged_calls_ = 0;
  Window resets_;
  Window pings_;
  Window idle_frames_;
  Window small_data_frames_;
  int64_t answered_bytes_ = 0;  // that have not allowed a frame yet
  int64_t allowed_frames_ = 0;  // beyond those that are allowed in each second
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_FRAME_GUARD_H_
