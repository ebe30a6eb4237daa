#include "client/postgres/capture/capture_status_writer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kWriteInterval = absl::Milliseconds(100);
// A sidecar that has not answered for this long is a problem.
constexpr absl::Duration kAnswerDeadline = absl::Seconds(10);

}  // namespace

void CaptureStatusWriter::Write(absl::Time now) {
  if (now - last_write_ < kWriteInterval) return;
  last_write_ = now;
  parts_.board.Update([&](CaptureStatus& status) {
    status.state = parts_.readings.State();
    WriteProblem(now, status);
    WritePositions(now, status);
    WriteCounts(status);
    parts_.readings.ShowIn(status);
  });
}

void CaptureStatusWriter::WriteProblem(absl::Time now, CaptureStatus& status) {
  const absl::Duration silence = parts_.pipeline.waiting_for_answer(now);
  waiting_since_ =
      parts_.readings.is_waiting() ? std::min(waiting_since_, now) : absl::InfiniteFuture();
  status.problem = "";
  status.is_waiting_for_transactions = false;
  if (silence >= kAnswerDeadline) {
    status.problem = absl::StrCat("the sidecar at ", parts_.sidecar, " has not answered for ",
                                  absl::FormatDuration(absl::Trunc(silence, absl::Seconds(1))));
  } else if (now - waiting_since_ >= kAnswerDeadline) {
    status.problem = status.state;
    status.is_waiting_for_transactions = true;
  }
}

void CaptureStatusWriter::WritePositions(absl::Time now, CaptureStatus& status) const {
  const uint64_t acknowledged = parts_.acknowledger.positions().acknowledged();
  const uint64_t wal_end = parts_.reader.wal_end();
  const std::optional<absl::Time> oldest = parts_.reader.OldestCommit();
  status.is_streaming = true;
  status.is_caught_up = acknowledged >= flushed_at_start_;
  status.acknowledged = acknowledged;
  status.lag_bytes = static_cast<int64_t>(wal_end - std::min(wal_end, acknowledged));
  status.lag =
      oldest.has_value() ? std::max(now - *oldest, absl::ZeroDuration()) : absl::ZeroDuration();
  status.slot_bytes = parts_.slot.retained_bytes();
}

void CaptureStatusWriter::WriteCounts(CaptureStatus& status) {
  const auto add = [](auto count, auto& written, int64_t& total) {
    total += static_cast<int64_t>(count - std::exchange(written, count));
  };
  add(parts_.reader.transactions(), transactions_, status.transactions);
  add(parts_.reader.row_changes(), row_changes_, status.row_changes);
  add(parts_.pipeline.added(), reports_, status.reports);
  add(parts_.pipeline.refused(), refused_, status.refused);
}

}  // namespace ttl::postgres
