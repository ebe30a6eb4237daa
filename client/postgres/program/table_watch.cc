#include "client/postgres/program/table_watch.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/postgres/sql/check/catalog.h"
#include "client/postgres/sql/connect/connection.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kCalmInterval = absl::Seconds(10);
constexpr absl::Duration kTroubleInterval = absl::Seconds(1);
// A look that takes longer is given up, and its connection with it.
constexpr absl::Duration kMaxLook = absl::Seconds(10);

// A table that is left out may be back under the same name as another one, with a new reason.
bool IsSame(const FollowedTables& one, const FollowedTables& other) {
  return one.tables == other.tables && one.left_out == other.left_out;
}

}  // namespace

TableWatch::TableWatch(const Config& config, FollowedTables followed,
                       std::function<bool()> is_in_trouble)
    : config_(config),
      followed_(std::move(followed)),
      is_in_trouble_(std::move(is_in_trouble)),
      pool_({config.database, "ttl-postgres tables", 1,
             absl::StrCat("SET jit = off; SET statement_timeout = 0; SET lock_timeout = '1s'; ",
                          Connection::kSystemNamesOnly)}),
      fault_(followed_.fault),
      thread_([this] { Run(); }) {}

TableWatch::~TableWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  pool_.Close();
  thread_.join();
}

bool TableWatch::has_changed() const {
  const std::lock_guard lock(mutex_);
  return has_changed_;
}

std::string TableWatch::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

absl::Duration TableWatch::PauseBeforeLook() const {
  const bool is_urgent = !followed_.left_out.empty() || !fault().empty() || is_in_trouble_();
  return is_urgent ? kTroubleInterval : kCalmInterval;
}

void TableWatch::Run() {
  absl::Time last_look = absl::Now();
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (stopped_.wait_for(lock, absl::ToChronoNanoseconds(kTroubleInterval),
                            [this] { return stop_; })) {
        return;
      }
    }
    if (has_changed() || absl::Now() - last_look < PauseBeforeLook()) continue;
    last_look = absl::Now();
    // The others that use the database say that it is away.
    if (const absl::Status status = Look(); !status.ok()) {
      spdlog::debug("the tables cannot be looked at: {}", status.ToString());
    }
  }
}

absl::Status TableWatch::Look() {
  auto lease = pool_.Take(absl::Now() + kMaxLook);
  if (!lease.ok()) return lease.status();
  const auto report = CheckCatalog(**lease, config_);
  if (!report.ok()) return report.status();
  // Capture goes on as it can, and keeps the slot from filling the disk.
  if (!report->is_server_fit) return absl::OkStatus();
  const auto found = FindFollowedTables(**lease, config_, *report);
  if (!found.ok()) return found.status();
  const std::lock_guard lock(mutex_);
  has_changed_ = !IsSame(*found, followed_);
  fault_ = found->fault;
  return absl::OkStatus();
}

}  // namespace ttl::postgres
