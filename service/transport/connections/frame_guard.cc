#include "service/transport/connections/frame_guard.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"

namespace ttl {
namespace {

constexpr absl::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Frame types, RFC 9113 section 6.
constexpr uint8_t kData = 0;
constexpr uint8_t kHeaders = 1;
constexpr uint8_t kRstStream = 3;
constexpr uint8_t kSettings = 4;
constexpr uint8_t kPing = 6;
constexpr uint8_t kContinuation = 9;
constexpr uint8_t kAck = 1;
constexpr uint8_t kEndStream = 1;

// Additional idle frames, such as WINDOW_UPDATE, that a client may send for each call, each DATA
// frame, and each kAnsweredBytesPerFrame bytes sent to it. The acknowledgement of SETTINGS is
// shorter than that, so that a flood of SETTINGS does not allow itself.
constexpr int64_t kFramesBesideACall = 8;
constexpr int64_t kFramesBesideData = 2;
constexpr int64_t kAnsweredBytesPerFrame = 16;
constexpr int64_t kMaxAllowedFrames = 1 << 16;

constexpr int64_t kSmallDataBytes = 1024;

}  // namespace

FrameLimits FrameLimits::ForCalls(int64_t calls_at_a_time) {
  // The header block limit is twice that of gRPC, 16 KiB (see AddressServer). The reset limit lets
  // all calls of a client, and the calls that replace them, reach their deadline at once.
  return {.header_block_bytes = 32 << 10,
          .unacknowledged_calls = calls_at_a_time,
          .resets_per_second = std::max<int64_t>(2 * calls_at_a_time, 100),
          .pings_per_minute = 600,
          .idle_frames_per_second = 100,
          .small_data_frames_per_second = 20'000};
}

FrameGuard::Verdict FrameGuard::Take(absl::string_view bytes, int64_t second) {
  if (state_ == State::kPreface) TakePreface(bytes);
  while (state_ == State::kFrames && !bytes.empty()) {
    const Verdict verdict = TakeFramePart(bytes, second);
    if (verdict == Verdict::kKeeps) continue;
    state_ = State::kOff;
    return verdict;
  }
  return Verdict::kKeeps;
}

void FrameGuard::NoteAnswered(int64_t bytes) {
  answered_bytes_ += bytes;
  Allow(answered_bytes_ / kAnsweredBytesPerFrame);
  answered_bytes_ %= kAnsweredBytesPerFrame;
}

void FrameGuard::Allow(int64_t frames) {
  allowed_frames_ = std::min(allowed_frames_ + frames, kMaxAllowedFrames);
}

void FrameGuard::TakePreface(absl::string_view& bytes) {
  const absl::string_view expected = kPreface.substr(taken_, bytes.size());
  if (!absl::StartsWith(bytes, expected)) {
    state_ = State::kOff;
    return;
  }
  bytes.remove_prefix(expected.size());
  taken_ = static_cast<uint8_t>(taken_ + expected.size());
  if (taken_ < kPreface.size()) return;
  taken_ = 0;
  state_ = State::kFrames;
}

FrameGuard::Verdict FrameGuard::TakeFramePart(absl::string_view& bytes, int64_t second) {
  if (payload_left_ > 0) {
    const size_t passed = std::min(static_cast<size_t>(payload_left_), bytes.size());
    bytes.remove_prefix(passed);
    payload_left_ -= static_cast<int64_t>(passed);
    return Verdict::kKeeps;
  }
  const size_t part = std::min(kFrameHeaderBytes - taken_, bytes.size());
  std::memcpy(header_.data() + taken_, bytes.data(), part);
  bytes.remove_prefix(part);
  taken_ = static_cast<uint8_t>(taken_ + part);
  if (taken_ < kFrameHeaderBytes) return Verdict::kKeeps;
  taken_ = 0;
  payload_left_ = int64_t{header_[0]} << 16 | int64_t{header_[1]} << 8 | int64_t{header_[2]};
  return Judge(second);
}

FrameGuard::Verdict FrameGuard::Judge(int64_t second) {
  const int64_t frame_bytes = static_cast<int64_t>(kFrameHeaderBytes) + payload_left_;
  const bool is_ack = (header_[4] & kAck) != 0;
  switch (header_[3]) {
    case kHeaders:
      if (!acknowledged_ && ++unacknowledged_calls_ > limits_->unacknowledged_calls) {
        return Verdict::kSettingsNotAcknowledged;
      }
      Allow(kFramesBesideACall);
      header_block_bytes_ = frame_bytes;
      return JudgeHeaderBlock();
    case kContinuation:
      header_block_bytes_ += frame_bytes;
      return JudgeHeaderBlock();
    case kRstStream:
      return resets_.Add(second, limits_->resets_per_second) ? Verdict::kKeeps
                                                             : Verdict::kTooManyResets;
    case kPing:
      if (is_ack) return JudgeIdleFrame(second);
      return pings_.Add(second / 60, limits_->pings_per_minute) ? Verdict::kKeeps
                                                                : Verdict::kTooManyPings;
    case kSettings:
      acknowledged_ = acknowledged_ || is_ack;
      return JudgeIdleFrame(second);
    case kData:
      return JudgeData(second);
    default:
      return JudgeIdleFrame(second);
  }
}

FrameGuard::Verdict FrameGuard::JudgeData(int64_t second) {
  const bool is_end_stream = (header_[4] & kEndStream) != 0;
  if (payload_left_ == 0 && !is_end_stream) return JudgeIdleFrame(second);
  if (payload_left_ >= kSmallDataBytes) {
    Allow(kFramesBesideData);
    return Verdict::kKeeps;
  }
  if (small_data_frames_.Add(second, limits_->small_data_frames_per_second)) {
    Allow(kFramesBesideData);
    return Verdict::kKeeps;
  }
  return SpendAllowed();
}

FrameGuard::Verdict FrameGuard::JudgeIdleFrame(int64_t second) {
  return idle_frames_.Add(second, limits_->idle_frames_per_second) ? Verdict::kKeeps
                                                                   : SpendAllowed();
}

FrameGuard::Verdict FrameGuard::SpendAllowed() {
  return --allowed_frames_ >= 0 ? Verdict::kKeeps : Verdict::kTooManyIdleFrames;
}

FrameGuard::Verdict FrameGuard::JudgeHeaderBlock() const {
  return header_block_bytes_ > limits_->header_block_bytes ? Verdict::kHeaderBlockTooLarge
                                                           : Verdict::kKeeps;
}

}  // namespace ttl
