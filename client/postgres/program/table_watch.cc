#include "client/postgres/program/table_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/postgres/program/database_check.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/held_times.h"
#include "service/base/mutex.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kCalmInterval = absl::Seconds(10);
constexpr absl::Duration kTroubleInterval = absl::Seconds(1);
// A check that takes longer is aborted, and its connection closed.
constexpr absl::Duration kMaxLook = absl::Seconds(10);

// A left-out table may have been replaced by another one of the same name, with a new reason, so
// the reasons are compared, too.
bool IsSame(const FollowedTables& one, const FollowedTables& other) {
  return one.tables == other.tables && one.left_out == other.left_out;
}

std::vector<std::string> FaultsOf(const FollowedTables& followed) {
  std::vector<std::string> faults;
  if (!followed.fault.empty()) faults.push_back(kInstallationFault);
  for (const auto& [container, why] : followed.left_out) faults.push_back(LeftOutFault(container));
  return faults;
}

}  // namespace

TableWatch::TableWatch(const Config& config, FollowedTables followed,
                       std::function<bool()> is_in_trouble, WallClock clock)
    : config_(config),
      followed_(std::move(followed)),
      is_in_trouble_(std::move(is_in_trouble)),
      clock_(std::move(clock)),
      pool_({config.database, "ttl-postgres tables", 1,
             absl::StrCat("SET jit = off; SET statement_timeout = 0; SET lock_timeout = '1s'; ",
                          Connection::kSystemNamesOnly)},
            clock_),
      state_{followed_.fault, followed_.fault.empty() ? absl::InfiniteFuture() : clock_(), {}},
      last_look_(clock_()),
      loop_(wake_, [this] {
        Step();
        return kTroubleInterval;
      }) {}

// Ends a running check.
TableWatch::~TableWatch() { pool_.Close(); }

bool TableWatch::has_changed() const {
  const MutexLock lock(mutex_);
  return has_changed_;
}

WatchedState TableWatch::state() const {
  const MutexLock lock(mutex_);
  return state_;
}

absl::Duration TableWatch::PauseBeforeLook() const {
  const bool is_urgent = !followed_.left_out.empty() || !state().fault.empty() || is_in_trouble_();
  return is_urgent ? kTroubleInterval : kCalmInterval;
}

void TableWatch::Step() {
  const absl::Time now = clock_();
  if (has_changed() || now - last_look_ < PauseBeforeLook()) return;
  last_look_ = now;
  // Other users of the database report that it is unavailable.
  if (const absl::Status status = Look(); !status.ok()) {
    spdlog::debug("the tables cannot be looked at: {}", std::string(status.message()));
  }
}

absl::Status TableWatch::Look() {
  TTL_ASSIGN_OR_RETURN(auto lease, pool_.Take(clock_() + kMaxLook));
  TTL_ASSIGN_OR_RETURN(std::vector<SlotHolder> holders, ReadSlotHolders(*lease));
  SetHolders(std::move(holders));
  auto report = CheckCatalog(*lease, config_);
  if (report.ok()) report = CheckLeftOut(*lease, *std::move(report));
  TTL_RETURN_IF_ERROR(report.status());
  // Capture continues as far as it can, and keeps the slot from filling the disk.
  if (!report->is_server_fit) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(const auto found, FindFollowedTables(*lease, config_, *report));
  TTL_RETURN_IF_ERROR(SetFaults(*lease, found));
  {
    const MutexLock lock(mutex_);
    has_changed_ = !IsSame(found, followed_);
  }
  return RemoveHeldTimes(*lease, config_.schema);
}

// The catalogue does not show every reason for which these tables were left out. The check reads
// their rows, so it does not run each time.
absl::StatusOr<CatalogReport> TableWatch::CheckLeftOut(Connection& connection,
                                                       CatalogReport report) {
  const absl::Time now = clock_();
  for (const auto& entry : followed_.left_out) {
    const std::string& container = entry.first;
    if (report.left_out.contains(container)) continue;
    const auto next = next_check_.find(container);
    if (next != next_check_.end() && now < next->second) {
      report.LeaveOut(container, entry.second);
      continue;
    }
    TTL_RETURN_IF_ERROR(CheckTables(connection, now, report, [&](const TableDefinition& table) {
      return table.config.container == container;
    }));
    if (report.left_out.contains(container)) next_check_[container] = now + kCalmInterval;
  }
  return report;
}

// Stores the faults only when they have changed.
absl::Status TableWatch::SetFaults(Connection& connection, const FollowedTables& found) {
  const std::vector<std::string> faults = FaultsOf(found);
  const bool is_same = std::all_of(faults.begin(), faults.end(), [this](const std::string& fault) {
    return recorded_.contains(fault);
  });
  if (!has_recorded_ || !is_same || faults.size() != recorded_.size()) {
    TTL_ASSIGN_OR_RETURN(recorded_, RecordFaults(connection, config_.schema, faults));
    has_recorded_ = true;
  }
  const auto since = recorded_.find(kInstallationFault);
  const MutexLock lock(mutex_);
  state_.fault = found.fault;
  state_.fault_since = since == recorded_.end() ? absl::InfiniteFuture() : since->second;
  return absl::OkStatus();
}

void TableWatch::SetHolders(std::vector<SlotHolder> holders) {
  const absl::Time now = clock_();
  UseFirstSeen(now, first_seen_, holders);
  const MutexLock lock(mutex_);
  state_.holders = std::move(holders);
  const SlotHolder* const old = OldHolder(state_.holders, now);
  if (old != nullptr && old->xid != logged_xid_) {
    spdlog::warn("old transaction: holder=\"{}\"", absl::CHexEscape(Describe(*old)));
    logged_xid_ = old->xid;
  }
}

}  // namespace ttl::postgres
