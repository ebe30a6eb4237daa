#include "service/server/serving.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "service/base/status_macros.h"
#include "service/rpc/services/method_roles.h"
#include "service/rpc/status/health.h"
#include "service/server/rebuild.h"

namespace ttl {
namespace {

constexpr absl::Duration kReadinessInterval = absl::Seconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<Serving>> Serving::Start(const Stages& stages,
                                                        const GrpcServerOptions& options,
                                                        IdentityRoles identities,
                                                        std::unique_ptr<TlsServer> page_tls) {
  std::unique_ptr<Serving> serving(new Serving(stages, std::move(identities)));
  // First, so that no client was served if the page's address is in use.
  TTL_RETURN_IF_ERROR(serving->ServePage(std::move(page_tls)));
  TTL_RETURN_IF_ERROR(serving->Listen(options));
  serving->AttachMetrics();
  return serving;
}

Serving::Serving(const Stages& stages, IdentityRoles identities)
    : stages_(stages),
      identities_(std::move(identities)),
      services_(stages.config, stages.data, stages.deleting),
      view_(services_.view_parts()),
      expiry_metrics_({stages.data.storage(), stages.deleting.published(), view_,
                       stages.data.start_steady(), services_.overdue()}),
      feed_metrics_({stages.data.storage().containers(), stages.deleting.published(),
                     services_.feed_view(), stages.data.clock()}) {}

Serving::~Serving() {
  stages_.metrics.Detach();
  readiness_loop_.reset();
  readiness_.reset();
  page_server_.reset();
  server_.reset();
  stages_.deleting.CancelStoreCalls();
}

absl::Status Serving::Listen(const GrpcServerOptions& options) {
  // Created before the server, so that the sidecar is not ready before it listens.
  readiness_.emplace(services_.health());
  sweep_health_.emplace(services_.health());
  TTL_ASSIGN_OR_RETURN(server_, GrpcServer::Start(options, {.services = services_.all_but_health(),
                                                            .health = services_.health(),
                                                            .counters = call_counters_,
                                                            .identities = identities_,
                                                            .access_counters = access_counters_,
                                                            .roles_of_method = RolesOfMethod}));
  readiness_->Set(ReadinessNow());
  readiness_loop_.emplace(stages_.signals.readiness, [this] {
    UpdateHealth();
    return kReadinessInterval;
  });
  return absl::OkStatus();
}

absl::Status Serving::ServePage(std::unique_ptr<TlsServer> tls) {
  if (stages_.config.status_page.empty()) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(page_server_, PageServer::Start({.address = stages_.config.status_page,
                                                        .calls = services_.page_calls(),
                                                        .tls = std::move(tls),
                                                        .identities = identities_,
                                                        .counters = access_counters_}));
  return absl::OkStatus();
}

void Serving::AttachMetrics() {
  Storage& storage = stages_.data.storage();
  stages_.metrics.Attach({.storage = storage,
                          .expiry = expiry_metrics_,
                          .feed = feed_metrics_,
                          .calls = call_counters_,
                          .checks = services_.check_counters(),
                          .access = access_counters_,
                          .data_trust = storage.data_trust(),
                          .reconciliations = stages_.deleting.reconciliations(),
                          .is_ready = [this] { return readiness_->is_ready(); }});
}

void Serving::UpdateHealth() {
  stages_.data.storage().CheckFiles();
  absl::Status state = ReadinessNow();
  if (state.ok()) state = server_->CheckSockets();
  readiness_->Set(state);
  sweep_health_->Set(SweepTroubles());
}

absl::Status Serving::ReadinessNow() const {
  TTL_RETURN_IF_ERROR(ReadinessOf(stages_.config, stages_.data.storage()));
  return stages_.deleting.StartChangesMade();
}

std::vector<std::string> Serving::SweepTroubles() {
  services_.overdue().RunOnce();
  std::vector<std::string> troubles = services_.overdue().Reasons();
  std::vector<std::string> gates = services_.overdue().Gates();
  std::move(gates.begin(), gates.end(), std::back_inserter(troubles));
  // Without the steady clock a stall cannot be measured.
  const std::optional<absl::Duration> now = stages_.data.system_clock().Read().boot;
  if (!now.has_value()) return troubles;
  const auto stall =
      SweepStall(stages_.deleting.published().Sweeper(), stages_.data.start_steady(), *now);
  if (stall.has_value()) troubles.push_back(StalledSweepReason(*stall));
  return troubles;
}

}  // namespace ttl
