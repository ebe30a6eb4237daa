#include "client/postgres/capture/stream/acknowledger.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kStatusPause = absl::Milliseconds(100);
// Each Keep() costs the sidecar a sync. Changes after the kept position are streamed again by the
// next session.
constexpr absl::Duration kKeepPause = absl::Milliseconds(500);

}  // namespace

Acknowledger::Acknowledger(std::unique_ptr<PositionKeeper> keeper, SourcePosition server,
                           uint64_t start, VisiblePosition& visible)
    : keeper_(std::move(keeper)),
      server_(std::move(server)),
      visible_(visible),
      positions_(start) {}

absl::Status Acknowledger::Step(uint64_t durable, absl::Time now, ReplicationStream& stream) {
  if (positions_.Advance(durable)) {
    // The next commit may start at the end of the last one.
    visible_.Acknowledge(positions_.acknowledged() - 1);
    has_worked_ = true;
  }
  TTL_RETURN_IF_ERROR(KeepPosition(now));
  if (!has_news_ || now - last_status_ < kStatusPause) return absl::OkStatus();
  stream.SendStatus(Confirmed(), now);
  last_status_ = now;
  has_news_ = false;
  return absl::OkStatus();
}

absl::Status Acknowledger::KeepPosition(absl::Time now) {
  if (const auto answer = keeper_->Take(); answer.has_value()) {
    TTL_RETURN_IF_ERROR(*answer);
    has_news_ = true;
  }
  const bool is_ahead = positions_.acknowledged() > Confirmed();
  if (!is_ahead || keeper_->is_pending() || now - last_keep_ < kKeepPause) {
    return absl::OkStatus();
  }
  last_keep_ = now;
  keeper_->Keep({server_.system_identifier, server_.timeline, positions_.acknowledged()});
  return absl::OkStatus();
}

// Changes up to this LSN are durable in the sidecar, and so is the LSN itself: if the sidecar is
// restored to an earlier state, its kept LSN is behind the slot, which reveals the gap.
uint64_t Acknowledger::Confirmed() const {
  const std::optional<SourcePosition>& kept = keeper_->kept();
  return kept.has_value() ? std::min(kept->lsn, positions_.acknowledged()) : 0;
}

}  // namespace ttl::postgres
