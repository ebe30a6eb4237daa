#include "client/postgres/capture/capture.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/postgres/capture/capture_session.h"
#include "client/postgres/capture/stream/patient_query.h"
#include "client/postgres/capture/stream/slot_keeper.h"
#include "client/postgres/sql/connect/connection.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kStopPoll = absl::Milliseconds(100);

}  // namespace

Capture::Capture(const Config& config, std::vector<TableDefinition> tables,
                 std::shared_ptr<grpc::Channel> sidecar, VisiblePosition& visible, WallClock clock,
                 CaptureOptions options)
    : config_(config),
      tables_(std::move(tables)),
      sidecar_(std::move(sidecar)),
      visible_(visible),
      clock_(std::move(clock)),
      options_(options),
      slot_(config_),
      containers_(sidecar_, config_.sidecar, [this] { wake_.Notify(); }),
      thread_([this] { Run(); }) {}

Capture::~Capture() {
  stop_ = true;
  wake_.Notify();
  thread_.join();
}

void Capture::Run() {
  absl::Duration pause = options_.first_pause;
  std::string last_problem;
  const CaptureParts parts{config_,  tables_, sidecar_, clock_, containers_, options_,
                           visible_, board_,  slot_,    wake_,  stop_};
  while (!stop_) {
    const absl::StatusOr<std::unique_ptr<CaptureSession>> session = CaptureSession::Start(parts);
    const absl::Status status = session.ok() ? (*session)->Run() : session.status();
    if (stop_) return;
    const bool has_worked = session.ok() && (*session)->has_worked();
    if (has_worked) pause = options_.first_pause;
    const std::string problem(status.message());
    // Log a repeated problem once.
    if (problem != last_problem) spdlog::warn("capture: {}", problem);
    last_problem = has_worked ? "" : problem;
    board_.Update([&](CaptureStatus& shown) {
      shown.state = "waiting to try again";
      shown.problem = problem;
      shown.is_waiting_for_transactions = false;
      shown.is_streaming = false;
      shown.is_caught_up = false;
      shown.is_complete = false;
      ++shown.restarts;
    });
    WaitBeforeRetry(pause);
    pause = std::min(2 * pause, options_.longest_pause);
  }
}

void Capture::WaitBeforeRetry(absl::Duration pause) {
  const absl::Time end = clock_() + pause;
  if (const absl::Status status = WatchSlot(); !status.ok()) {
    spdlog::debug("capture: the slot cannot be watched: {}", std::string(status.message()));
  }
  const uint64_t version = containers_.version();
  // Retry early if the sidecar answers again.
  while (!stop_ && clock_() < end && containers_.version() == version) {
    wake_.Wait(-1, std::min(kStopPoll, end - clock_()));
  }
}

absl::Status Capture::WatchSlot() {
  const absl::Time now = clock_();
  if (now - last_watch_ < options_.catalog_interval) return absl::OkStatus();
  last_watch_ = now;
  TTL_ASSIGN_OR_RETURN(auto connection, Connection::Open(config_.database, "ttl-postgres capture"));
  TTL_RETURN_IF_ERROR(connection->Execute(Connection::kSystemNamesOnly).status());
  PatientQuery database(*connection, kStopPoll, [this] {
    return stop_ ? absl::CancelledError("stopping") : absl::OkStatus();
  });
  absl::Status status = slot_.Check(database);
  board_.Update([&](CaptureStatus& shown) { shown.slot_bytes = slot_.retained_bytes(); });
  if (!absl::IsResourceExhausted(status) || !SqlState(status).empty()) return status;
  spdlog::error("{}", std::string(status.message()));
  return slot_.Drop(database);
}

}  // namespace ttl::postgres
