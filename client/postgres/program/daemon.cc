#include "client/postgres/program/daemon.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/postgres/sql/check/slot_state.h"
#include "client/postgres/sql/group.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"
#include "ttl/client_channel.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kReadinessInterval = absl::Seconds(1);
constexpr absl::Duration kCaughtUpPause = absl::Milliseconds(200);

TtlClientOptions SidecarOptions(const Config& config) {
  TtlClientOptions options;
  options.address = config.sidecar;
  return options;
}

std::shared_ptr<grpc::Channel> NewSidecarChannel(const Config& config) {
  return NewRepeatingChannel(SidecarOptions(config));
}

std::vector<std::string> ContainersOf(const std::vector<TableDefinition>& tables) {
  std::vector<std::string> containers;
  for (const TableDefinition& table : tables) containers.push_back(table.config.container);
  return containers;
}

std::vector<std::string> ContainersOf(const std::map<std::string, std::string>& left_out) {
  std::vector<std::string> containers;
  for (const auto& [container, why] : left_out) containers.push_back(container);
  return containers;
}

bool IsInTrouble(const CaptureStatus& capture) {
  return !capture.problem.empty() || capture.is_waiting_for_transactions;
}

std::string OldestText(const std::vector<SlotHolder>& holders) {
  return holders.empty() ? "" : absl::StrCat("; the oldest is ", Describe(holders.front()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(const Config& config, FollowedTables followed,
                                                      StoreServer& server, const WallClock& clock) {
  for (const auto& [container, why] : followed.left_out) {
    spdlog::error("table left out: container=\"{}\" reason=\"{}\"", absl::CHexEscape(container),
                  absl::CHexEscape(why));
  }
  std::unique_ptr<Daemon> daemon(new Daemon(config, std::move(followed), server, clock));
  TTL_RETURN_IF_ERROR(daemon->ListenForScrapes(config, clock));
  daemon->server_.Serve(daemon->store_);
  if (std::any_of(daemon->tables_.begin(), daemon->tables_.end(), IsGroup)) {
    daemon->pieces_.emplace(daemon->pieces_wake_,
                            [daemon = daemon.get()] { return daemon->store_.DeletePieces(); });
  }
  daemon->readiness_.emplace(daemon->wake_, [daemon = daemon.get()] {
    daemon->TellReadiness();
    return kReadinessInterval;
  });
  return daemon;
}

Daemon::Daemon(const Config& config, FollowedTables followed, StoreServer& server,
               const WallClock& clock)
    : tables_(followed.tables),
      left_out_(ContainersOf(followed.left_out)),
      sidecar_(SidecarOptions(config)),
      store_(
          config, tables_, visible_, [this] { return YieldFor(); },
          // acknowledged() is one less than the end LSN of the last commit.
          [this] { return visible_.acknowledged() + 1; }, clock),
      mirror_(config, NewSidecarChannel(config), clock),
      capture_(config, tables_, NewSidecarChannel(config), visible_, clock),
      server_(server),
      watch_(std::make_unique<TableWatch>(
          config, std::move(followed), [this] { return IsInTrouble(capture_.status()); }, clock)) {
  load_ = std::make_unique<LoadMonitor>(
      config, tables_,
      LoadMonitor::Parts{[this](absl::string_view container, double units) {
                           sidecar_.AddUsage(container, units);
                         },
                         [this](absl::string_view container) -> int64_t {
                           const StoreCounters* counters = store_.CountersOf(container);
                           return counters == nullptr ? 0 : counters->rows_touched.load();
                         }},
      clock);
}

Daemon::~Daemon() {
  readiness_.reset();
  metrics_server_.reset();
  server_.Withdraw();
  // Ends a piece that is being deleted, even if the database hangs.
  store_.Close();
  pieces_.reset();
  load_.reset();
}

absl::Status Daemon::ListenForScrapes(const Config& config, const WallClock& clock) {
  if (config.metrics_listen.empty()) return absl::OkStatus();
  Metrics metrics({ContainersOf(tables_), left_out_, [this] { return Problem().empty(); },
                   [this] { return capture_.status(); }, [this] { return load_->state(); },
                   [this] { return mirror_.state(); }, [this] { return watch_->state(); },
                   [this](absl::string_view container) { return store_.CountersOf(container); },
                   config.max_slot_bytes, clock});
  TTL_ASSIGN_OR_RETURN(
      metrics_server_,
      MetricsServer::Start("metrics_listen", config.metrics_listen,
                           [metrics = std::move(metrics)] { return metrics.Text(); }));
  spdlog::info("metrics: address=\"{}\" port={}", config.metrics_listen, metrics_server_->port());
  return absl::OkStatus();
}

std::optional<absl::Duration> Daemon::YieldFor() const {
  // Until capture has caught up, many consecutive deletes may find no row, which the sidecar takes
  // for an empty store.
  if (!capture_.status().is_caught_up) return kCaughtUpPause;
  return load_->YieldFor();
}

std::string Daemon::Problem() const {
  const CaptureStatus capture = capture_.status();
  const WatchedState watched = watch_->state();
  if (capture.is_waiting_for_transactions) {
    return absl::StrCat(capture.is_streaming ? "" : "nothing is captured yet: ", capture.state,
                        OldestText(watched.holders));
  }
  if (!capture.problem.empty()) return capture.problem;
  if (!capture.is_streaming) return absl::StrCat("nothing is captured yet: ", capture.state);
  if (tables_.empty()) return "no table can be captured: all are left out; the log says why";
  const std::string mirror = mirror_.state().problem;
  return mirror.empty() ? watched.fault : mirror;
}

void Daemon::TellReadiness() {
  const std::string problem = Problem();
  if (problem == told_) return;
  if (problem.empty()) {
    spdlog::info("ready");
  } else {
    spdlog::warn("not ready: reason=\"{}\"", absl::CHexEscape(problem));
  }
  server_.SetProblem(problem);
  told_ = problem;
}

}  // namespace ttl::postgres
