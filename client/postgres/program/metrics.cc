#include "client/postgres/program/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "service/log/log.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

double UnixSeconds(absl::Time time) { return absl::ToDoubleSeconds(time - absl::UnixEpoch()); }

class Families {
 public:
  // Starts a family; samples added until the next one belong to it.
  void Counter(const std::string& name, const std::string& help) {
    families_.push_back({"ttl_postgres_" + name, help, MetricType::Counter, {}});
  }
  void Gauge(const std::string& name, const std::string& help) {
    families_.push_back({"ttl_postgres_" + name, help, MetricType::Gauge, {}});
  }

  void Add(double value, Labels labels = {}) {
    MetricFamily& family = families_.back();
    ClientMetric& metric = family.metric.emplace_back();
    metric.label = std::move(labels);
    (family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  }

  std::vector<MetricFamily> Take() { return std::move(families_); }

 private:
  std::vector<MetricFamily> families_;
};

void AddCapture(const CaptureStatus& status, Families& families) {
  families.Gauge("capture_complete",
                 "1 while changes are streaming and all tables have been read: everything "
                 "committed longer ago than the lag is tracked.");
  families.Add(status.is_complete ? 1 : 0);
  families.Gauge("capture_lag_seconds",
                 "Age of the oldest commit that is not yet durable in the sidecar.");
  families.Add(absl::ToDoubleSeconds(status.lag));
  families.Gauge("capture_lag_bytes",
                 "WAL written since the last commit that is durable in the sidecar.");
  families.Add(static_cast<double>(status.lag_bytes));
  families.Counter("captured_row_changes_total",
                   "Row changes of the configured tables received from the replication stream.");
  families.Add(static_cast<double>(status.row_changes));
  families.Counter("reports_total",
                   "Reports for the sidecar, from the replication stream and from scans.");
  families.Add(static_cast<double>(status.reports));
  families.Counter("capture_restarts_total",
                   "Restarts of the capture after an error; the log names the error.");
  families.Add(static_cast<double>(status.restarts));
}

void AddSlot(const CaptureStatus& status, int64_t max_slot_bytes, Families& families) {
  families.Gauge("slot_retained_bytes",
                 "WAL that the server retains for the slot. Grows while the sidecar or "
                 "ttl-postgres is down, and can fill the server's disk.");
  if (status.slot_bytes.has_value()) families.Add(static_cast<double>(*status.slot_bytes));
  families.Gauge("slot_limit_bytes",
                 "The configured max_slot_bytes, beyond which the slot is dropped and the tables "
                 "are read again; 0: no limit.");
  families.Add(static_cast<double>(max_slot_bytes));
  families.Counter(
      "slots_lost_total",
      "How often changes may have been missed and all tables were read again: the slot was lost, "
      "dropped or created again, or the server or the sidecar was replaced or restored.");
  families.Add(static_cast<double>(status.slots_lost));
}

void AddTables(const CaptureStatus& status, Families& families) {
  const auto each = [&](auto value) {
    for (const TableStatus& table : status.tables) {
      families.Add(static_cast<double>(value(table)), {{"container", table.container}});
    }
  };
  families.Gauge("scan_rows", "Rows read by the first scan of the table.");
  each([](const TableStatus& table) { return table.scanned; });
  families.Gauge("scan_complete", "1 once the first scan of the table is complete.");
  each([](const TableStatus& table) { return table.scan_done ? 1 : 0; });
  families.Counter("untrackable_rows_total",
                   "Rows that cannot be tracked: _ts is missing, or _ts, ttl or key is not "
                   "allowed. They never expire; the log names some.");
  each([](const TableStatus& table) { return table.untrackable; });
  families.Counter("null_time_rows_total",
                   "Rows whose ts_column is NULL in a table with null_means: never. They never "
                   "expire, as configured.");
  each([](const TableStatus& table) { return table.null_times; });
}

void AddLeftOut(const MetricSources& sources, const CaptureStatus& status, Families& families) {
  families.Gauge("table_left_out",
                 "1 while the table of the container cannot be captured, so its rows are neither "
                 "tracked nor deleted; the log gives the reason.");
  for (const std::string& container : sources.containers) {
    families.Add(status.left_out.contains(container) ? 1 : 0, {{"container", container}});
  }
  for (const std::string& container : sources.left_out) {
    families.Add(1, {{"container", container}});
  }
}

std::string OutcomeLabel(int outcome) {
  const std::string& name = v1::DeleteOutcome_Name(static_cast<v1::DeleteOutcome>(outcome));
  return absl::AsciiStrToLower(absl::StripPrefix(name, "DELETE_OUTCOME_"));
}

void AddDeletes(const MetricSources& sources, Families& families) {
  const auto each = [&](auto add) {
    for (const std::string& container : sources.containers) {
      if (const StoreCounters* counters = sources.store(container)) add(container, *counters);
    }
  };
  families.Counter("deletes_total",
                   "Rows that the sidecar asked to delete, by outcome. out_of_time: deferred "
                   "because the deletes before them used up the deadline of the call.");
  each([&](const std::string& container, const StoreCounters& counters) {
    for (int outcome = 1; outcome < v1::DeleteOutcome_ARRAYSIZE; ++outcome) {
      families.Add(static_cast<double>(counters.outcomes[outcome]),
                   {{"container", container}, {"outcome", OutcomeLabel(outcome)}});
    }
    families.Add(static_cast<double>(counters.out_of_time),
                 {{"container", container}, {"outcome", "out_of_time"}});
  });
  families.Counter("delete_calls_failed_total", "DeleteItems calls that ended with an error.");
  each([&](const std::string& container, const StoreCounters& counters) {
    families.Add(static_cast<double>(counters.failed_calls), {{"container", container}});
  });
  families.Counter("delete_calls_yielded_total",
                   "DeleteItems calls deferred because the database was busy.");
  each([&](const std::string& container, const StoreCounters& counters) {
    families.Add(static_cast<double>(counters.yielded_calls), {{"container", container}});
  });
}

void AddOverruns(const MetricSources& sources, Families& families) {
  families.Counter("delete_transactions_timed_out_total",
                   "Delete transactions rolled back because they exceeded statement_timeout or the "
                   "deadline of their call; smaller ones follow.");
  for (const std::string& container : sources.containers) {
    const StoreCounters* const counters = sources.store(container);
    if (counters == nullptr) continue;
    families.Add(static_cast<double>(counters->overruns), {{"container", container}});
  }
}

void AddCondemned(const MetricSources& sources, Families& families) {
  const auto each = [&](auto value) {
    for (const std::string& container : sources.containers) {
      const StoreCounters* const counters = sources.store(container);
      if (counters == nullptr) continue;
      families.Add(static_cast<double>(value(*counters)), {{"container", container}});
    }
  };
  families.Gauge(
      "condemned_groups",
      "Groups that were too large for one transaction and are being deleted in pieces, at "
      "the last attempt. The log names those that cannot be deleted.");
  each([](const StoreCounters& counters) { return counters.condemned_groups.load(); });
  families.Counter("condemned_rows_deleted_total", "Rows of such groups that were deleted.");
  each([](const StoreCounters& counters) { return counters.condemned_rows.load(); });
}

void AddLoad(const LoadState& load, Families& families) {
  families.Gauge("database_latency_seconds", "Latency of a trivial query, median of the last few.");
  families.Add(absl::ToDoubleSeconds(load.latency));
  families.Gauge(
      "database_active_backends",
      "Active backends other than those of ttl-postgres, median of the last few samples.");
  families.Add(static_cast<double>(load.active_backends));
  families.Gauge("yielding", "1 while deletes are suspended because the database is busy.");
  families.Add(load.yielding ? 1 : 0);
}

void AddMirror(const PolicyMirror::State& mirror, Families& families) {
  families.Gauge("policies_mirrored_timestamp_seconds",
                 "When the mirrored policies in the database were last known to equal the "
                 "sidecar's; 0: never since the start. Views use the mirrored policies.");
  families.Add(mirror.last_mirrored == absl::InfinitePast() ? 0
                                                            : UnixSeconds(mirror.last_mirrored));
}

void AddWatch(const WatchedState& watched, absl::Time now, Families& families) {
  families.Gauge("old_transaction_timestamp_seconds",
                 "When the oldest transaction of others began that has written and not ended "
                 "(without pg_read_all_stats: was first seen), if it is over a minute old; 0: "
                 "there is none. A new slot waits for it to end, and the server retains WAL from "
                 "its beginning.");
  const SlotHolder* const old = OldHolder(watched.holders, now);
  const SlotHolder shown = old == nullptr ? SlotHolder() : *old;
  families.Add(UnixSeconds(shown.since.value_or(absl::UnixEpoch())),
               {{"holder", shown.holder},
                {"application", shown.application},
                {"user", shown.user},
                {"database", shown.database}});
  families.Gauge("installation_fault_timestamp_seconds",
                 "Since when a view, a policy or a trigger has been missing or disabled; 0: none "
                 "is. The log names it.");
  families.Add(watched.fault.empty() ? 0 : UnixSeconds(watched.fault_since));
}

}  // namespace

std::string Metrics::Text() const {
  Families families;
  families.Gauge(
      "ready",
      "1 if ttl-postgres is ready; otherwise the log and the health service give the reason.");
  families.Add(sources_.is_ready() ? 1 : 0);
  const CaptureStatus capture = sources_.capture();
  AddCapture(capture, families);
  AddSlot(capture, sources_.max_slot_bytes, families);
  AddWatch(sources_.watch(), sources_.clock(), families);
  AddTables(capture, families);
  AddLeftOut(sources_, capture, families);
  AddDeletes(sources_, families);
  AddOverruns(sources_, families);
  AddCondemned(sources_, families);
  AddLoad(sources_.load(), families);
  AddMirror(sources_.mirror(), families);
  families.Counter("log_lines_lost_total",
                   "Log lines lost because standard error could not be written in time, for "
                   "example because the pipe is not read or the disk is full.");
  families.Add(static_cast<double>(Log::LostLines()));
  return prometheus::TextSerializer().Serialize(families.Take());
}

}  // namespace ttl::postgres
