#include "client/postgres/capture/tables/table_readings.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kUntrackableLogInterval = absl::Seconds(10);

TableStatus StatusOf(const std::vector<TableStatus>& tables, const std::string& container) {
  for (const TableStatus& table : tables) {
    if (table.container == container) return table;
  }
  return TableStatus();
}

}  // namespace

TableReadings::TableReadings(const CaptureParts& parts, const CapturedTables& tables,
                             PatientQuery& database, v1::ItemService::Stub& sidecar,
                             ReportPipeline& pipeline, uint64_t needed)
    : tables_(tables), clock_(parts.clock), display_(isatty(STDERR_FILENO) != 0) {
  for (size_t i = 0; i < tables.size(); ++i) {
    TableReading::Parts of_reading{database,
                                   parts.config.schema,
                                   sidecar,
                                   pipeline,
                                   parts.visible,
                                   parts.options,
                                   [&wake = parts.wake] { wake.Notify(); },
                                   [this](const TableDefinition& table, const absl::Status& why) {
                                     LogUntrackable(table, why);
                                   }};
    readings_.push_back(std::make_unique<TableReading>(tables.items()[i], std::move(of_reading),
                                                       tables.progress(i), needed));
  }
}

absl::StatusOr<bool> TableReadings::Step(absl::FunctionRef<absl::StatusOr<bool>()> sees_all,
                                         absl::Time now) {
  for (const auto& reading : readings_) TTL_RETURN_IF_ERROR(reading->Note(now));
  const auto did = StepOne(sees_all, now);
  ShowScan(now);
  return did;
}

absl::StatusOr<bool> TableReadings::StepOne(absl::FunctionRef<absl::StatusOr<bool>()> sees_all,
                                            absl::Time now) {
  for (const auto& reading : readings_) {
    if (!reading->has_work()) continue;
    const auto did = reading->Step(sees_all, now);
    if (!did.ok() || *did) return did;
  }
  return false;
}

// Shows the first unfinished table until it is done: alternating tables would be unreadable.
void TableReadings::ShowScan(absl::Time now) {
  for (size_t i = 0; i < readings_.size(); ++i) {
    if (!readings_[i]->is_done()) {
      const TableStatus status = readings_[i]->status();
      if (status.ghosts_done) display_.Show(status, now);
      return;
    }
    if (display_.IsShowing(tables_.container(i))) {
      display_.Finish(readings_[i]->status(), now);
    }
  }
}

bool TableReadings::has_work() const {
  return std::any_of(readings_.begin(), readings_.end(),
                     [](const auto& reading) { return reading->has_work(); });
}

bool TableReadings::is_waiting() const {
  return std::any_of(readings_.begin(), readings_.end(),
                     [](const auto& reading) { return reading->is_waiting(); });
}

std::string TableReadings::State() const {
  for (const auto& reading : readings_) {
    if (!reading->is_waiting()) continue;
    const std::string rewrite = reading->RewriteText();
    if (!rewrite.empty()) return absl::StrCat("streaming; ", rewrite);
    return absl::StrCat("streaming; reading the table of container \"", reading->status().container,
                        "\" waits for older transactions to end");
  }
  for (const auto& reading : readings_) {
    const std::string rewrite = reading->RewriteText();
    if (!rewrite.empty()) return absl::StrCat("streaming; ", rewrite);
    if (reading->is_done()) continue;
    const TableStatus status = reading->status();
    const std::string container = absl::StrCat("container \"", status.container, "\"");
    if (!status.ghosts_done) {
      return absl::StrCat("streaming; looking for items of ", container, " without a row");
    }
    return absl::StrCat("streaming; first scan of ", ScanText(status, 0));
  }
  return "streaming";
}

void TableReadings::ShowIn(CaptureStatus& status) {
  status.is_complete = true;
  const std::vector<TableStatus> shown = std::exchange(status.tables, {});
  for (size_t i = 0; i < readings_.size(); ++i) {
    // An earlier session may have followed other tables.
    readings_[i]->ShowIn(status.tables.emplace_back(StatusOf(shown, tables_.container(i))));
    status.is_complete = status.is_complete && readings_[i]->is_done();
  }
}

void TableReadings::LogUntrackable(const TableDefinition& table, const absl::Status& why) {
  const absl::Time now = clock_();
  if (now - last_untrackable_ < kUntrackableLogInterval) {
    ++unlogged_;
    return;
  }
  spdlog::warn("table {}.{}: a row cannot be tracked, so it never expires: {}{}",
               table.config.schema, table.config.table, std::string(why.message()),
               unlogged_ > 0 ? absl::StrCat(" (and ", unlogged_, " rows like it before)") : "");
  last_untrackable_ = now;
  unlogged_ = 0;
}

}  // namespace ttl::postgres
