#include "service/rpc/services/maintenance_service.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/core/container.h"
#include "service/core/policy_effect.h"
#include "service/rpc/mapping/container_mapping.h"
#include "service/rpc/mapping/maintenance_mapping.h"
#include "service/rpc/services/container_lookup.h"
#include "service/storage/upkeep/backup.h"
#include "service/storage/upkeep/verifier.h"
#include "service/transport/calls/method_table.h"

namespace ttl {
namespace {

// For intervals between messages only.
using PaceClock = std::chrono::steady_clock;

constexpr auto kProgressInterval = std::chrono::seconds(1);
constexpr int kMaintenanceNiceness = 10;
constexpr size_t kMaxSourcePositionBytes = 1024;

// Makes the calling thread yield to others. Without the permission its priority stays as it is.
void LowerPriority() {
  static thread_local const int result =
      setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kMaintenanceNiceness);
  static_cast<void>(result);
}

void FillPreview(const AdoptionPreview& preview, const std::optional<PolicyBrake>& brake,
                 v1::PreviewContainerResponse& message) {
  message.set_scanned_items(preview.scanned);
  message.set_expired_items(preview.expired);
  message.set_due_items(preview.due);
  message.set_invalid_items(preview.invalid);
  if (preview.estimated.has_value()) message.set_estimated_items(*preview.estimated);
  message.set_brake_would_pull(brake.has_value() &&
                               PullsBrake(*brake, preview.due, preview.scanned));
  message.set_finished(preview.finished);
}

}  // namespace

class MaintenanceService::StreamSlot {
 public:
  explicit StreamSlot(std::atomic<int>& taken) : taken_(taken) {}
  ~StreamSlot() { --taken_; }
  StreamSlot(const StreamSlot&) = delete;
  StreamSlot& operator=(const StreamSlot&) = delete;

 private:
  std::atomic<int>& taken_;
};

const google::protobuf::ServiceDescriptor& MaintenanceService::descriptor() const {
  return *v1::VerifyDataRequest::descriptor()->file()->service(0);
}

void MaintenanceService::AddMethods(MethodTable& table) {
  table.Add("StartReconciliation", *this, &MaintenanceService::Start);
  table.Add("GetReconciliation", *this, &MaintenanceService::Get);
  table.Add("CancelReconciliation", *this, &MaintenanceService::Cancel);
  table.Add("TrustData", *this, &MaintenanceService::Trust);
  table.Add("GetSourcePosition", *this, &MaintenanceService::GetPosition);
  table.Add("SetSourcePosition", *this, &MaintenanceService::SetPosition);
  table.AddSource<v1::PreviewContainerRequest, v1::PreviewContainerResponse>(
      "PreviewContainer", maintenance_, parts_.stall_limit,
      [this](const v1::PreviewContainerRequest& request) {
        LowerPriority();
        return OpenPreview(request);
      });
  table.AddSource<v1::VerifyDataRequest, v1::VerifyDataResponse>(
      "VerifyData", maintenance_, parts_.stall_limit, [this](const v1::VerifyDataRequest&) {
        LowerPriority();
        return OpenVerification();
      });
  table.AddSource<v1::BackUpDataRequest, v1::BackUpDataResponse>(
      "BackUpData", maintenance_, parts_.stall_limit, [this](const v1::BackUpDataRequest&) {
        LowerPriority();
        return OpenBackup();
      });
}

absl::Status MaintenanceService::Start(const v1::StartReconciliationRequest& request,
                                       v1::StartReconciliationResponse& response) {
  if (!parts_.has_store) {
    return MakeError(Reason::kStoreNotConfigured, "no primary store is configured: set --store");
  }
  if (!request.container().empty()) {
    TTL_RETURN_IF_ERROR(FindContainer(parts_.storage.containers(), request.container()).status());
  }
  TTL_RETURN_IF_ERROR(parts_.reconciliations.Request({request.container(), request.dry_run()},
                                                     parts_.clock.Read().now));
  spdlog::info("reconciliation requested: container={} dry_run={}",
               Quoted(request.container(), kMaxContainerIdBytes), request.dry_run());
  if (const auto view = parts_.reconciliations.View()) {
    *response.mutable_reconciliation() = ToProto(*view);
  }
  return absl::OkStatus();
}

absl::Status MaintenanceService::Get(const v1::GetReconciliationRequest& /*request*/,
                                     v1::GetReconciliationResponse& response) const {
  const std::optional<Reconciliation> view = parts_.reconciliations.View();
  if (!view.has_value()) {
    return MakeError(Reason::kReconciliationNotFound,
                     "no reconciliation has run since the process started");
  }
  *response.mutable_reconciliation() = ToProto(*view);
  return absl::OkStatus();
}

absl::Status MaintenanceService::Cancel(const v1::CancelReconciliationRequest& /*request*/,
                                        v1::CancelReconciliationResponse& response) {
  TTL_RETURN_IF_ERROR(parts_.reconciliations.Cancel());
  spdlog::info("reconciliation cancelled");
  if (const auto view = parts_.reconciliations.View()) {
    *response.mutable_reconciliation() = ToProto(*view);
  }
  return absl::OkStatus();
}

void MaintenanceService::Trust(const v1::TrustDataRequest& /*request*/,
                               v1::TrustDataResponse& /*response*/, DoneStatus done) {
  const DataTrust& trust = parts_.storage.data_trust();
  const std::string reason = trust.doubt();
  if (reason.empty()) {
    return done(MakeError(Reason::kDataNotInDoubt, "the tracked data is not in doubt"));
  }
  parts_.levers.TrustData(
      reason, [&trust, reason, done = std::move(done)](absl::Status status) mutable {
        if (status.ok() && !trust.in_doubt()) {
          spdlog::warn("data declared complete: reason={}", Quoted(reason, 1024));
        }
        done(std::move(status));
      });
}

absl::Status MaintenanceService::GetPosition(const v1::GetSourcePositionRequest& /*request*/,
                                             v1::GetSourcePositionResponse& response) const {
  TTL_ASSIGN_OR_RETURN(std::optional<std::string> position,
                       parts_.storage.sidecar_state().LoadSourcePosition());
  if (position.has_value()) response.set_position(*std::move(position));
  return absl::OkStatus();
}

void MaintenanceService::SetPosition(const v1::SetSourcePositionRequest& request,
                                     v1::SetSourcePositionResponse& /*response*/, DoneStatus done) {
  const std::string& position = request.position();
  if (position.empty() || position.size() > kMaxSourcePositionBytes) {
    return done(
        InvalidField("position", absl::StrCat("position has ", position.size(),
                                              " bytes: must have 1 to ", kMaxSourcePositionBytes)));
  }
  parts_.storage.sidecar_state().SaveSourcePosition(position, std::move(done));
}

absl::StatusOr<std::shared_ptr<MaintenanceService::StreamSlot>>
MaintenanceService::TakeStreamSlot() {
  if (streams_.fetch_add(1) < kMaxStreams) return std::make_shared<StreamSlot>(streams_);
  --streams_;
  return MakeError(
      Reason::kTooManyStreams,
      absl::StrCat(kMaxStreams,
                   " previews, verifications and backups are running, which is the maximum: retry "
                   "when one has ended"),
      {{"limit", absl::StrCat(kMaxStreams)}});
}

absl::StatusOr<MessageSource<v1::PreviewContainerResponse>> MaintenanceService::OpenPreview(
    const v1::PreviewContainerRequest& request) {
  const std::string& id = request.container().id();
  TTL_ASSIGN_OR_RETURN(const ContainerSettings settings, ReadSettings(request.container()));
  TTL_RETURN_IF_ERROR(ValidateContainerId(id));
  TTL_RETURN_IF_ERROR(ValidateChange(ContainerSettings(), settings));
  if (parts_.storage.containers().Find(id) != nullptr) {
    return MakeError(Reason::kContainerExists,
                     absl::StrCat("container \"", id, "\" already exists"), {{"container", id}});
  }
  if (!parts_.preview) {
    return MakeError(Reason::kStoreNotConfigured, "cannot preview: no primary store is configured");
  }
  TTL_ASSIGN_OR_RETURN(std::shared_ptr<StreamSlot> slot, TakeStreamSlot());
  return [slot = std::move(slot), step = parts_.preview(id, settings), brake = settings.brake,
          preview = AdoptionPreview(), sent = PaceClock::now()](
             v1::PreviewContainerResponse& message) mutable -> absl::StatusOr<SourceStep> {
    if (preview.finished) return SourceStep::kEnd;
    TTL_RETURN_IF_ERROR(step(preview));
    if (!preview.finished && PaceClock::now() - sent < kProgressInterval) {
      return SourceStep::kAgain;
    }
    sent = PaceClock::now();
    FillPreview(preview, brake, message);
    return SourceStep::kMessage;
  };
}

absl::StatusOr<MessageSource<v1::VerifyDataResponse>> MaintenanceService::OpenVerification() {
  TTL_ASSIGN_OR_RETURN(std::shared_ptr<StreamSlot> slot, TakeStreamSlot());
  return [slot = std::move(slot), verifier = parts_.storage.StartVerification(),
          sent = PaceClock::now(),
          finished = false](v1::VerifyDataResponse& message) mutable -> absl::StatusOr<SourceStep> {
    if (finished) return SourceStep::kEnd;
    const Verifier::Next next = verifier->Step();
    if (next == Verifier::Next::kPause) absl::SleepFor(Verifier::kPause);
    finished = next == Verifier::Next::kEnd;
    if (!finished && PaceClock::now() - sent < kProgressInterval) return SourceStep::kAgain;
    sent = PaceClock::now();
    message.set_records(verifier->records());
    message.set_problems(verifier->problems());
    for (std::string& problem : verifier->TakeProblems()) message.add_new_problems(problem);
    message.set_finished(finished);
    return SourceStep::kMessage;
  };
}

absl::StatusOr<MessageSource<v1::BackUpDataResponse>> MaintenanceService::OpenBackup() {
  TTL_ASSIGN_OR_RETURN(std::shared_ptr<StreamSlot> slot, TakeStreamSlot());
  TTL_ASSIGN_OR_RETURN(std::unique_ptr<Backup> backup,
                       parts_.storage.StartBackup(parts_.clock.Read().now));
  spdlog::info("backup started");
  // Most clients accept messages of up to 4 MiB, and a step may return more.
  return [slot = std::move(slot), backup = std::move(backup), bytes = std::string(),
          position =
              size_t{0}](v1::BackUpDataResponse& message) mutable -> absl::StatusOr<SourceStep> {
    constexpr size_t kMessageBytes = size_t{512} << 10;
    if (position == bytes.size()) {
      TTL_ASSIGN_OR_RETURN(bytes, backup->Next());
      position = 0;
      if (bytes.empty()) {
        spdlog::info("backup finished: records={}", backup->records());
        return SourceStep::kEnd;
      }
    }
    message.set_data(bytes.substr(position, kMessageBytes));
    message.set_records(backup->records());
    position += message.data().size();
    return SourceStep::kMessage;
  };
}

}  // namespace ttl
