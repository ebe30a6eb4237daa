#include "client/postgres/capture/capture_start.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/postgres/capture/tables/table_catalog.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

// Time to wait for the sidecar's first answer.
constexpr absl::Duration kFirstAnswer = absl::Seconds(3);
// Interval of looking whether the capture stops.
constexpr absl::Duration kStopInterval = absl::Milliseconds(100);

// row_security: rows that a policy hides would look like deleted rows.
// synchronous_commit: a server crash must not lose stored progress after the slot has advanced.
// client_connection_check_interval: without it, a backend that waits to create a slot would
// continue after this process was killed and leave a slot without a reader. Not every platform
// supports the check.
constexpr char kSettings[] =
    "SET row_security = off; SET lock_timeout = '2s'; SET statement_timeout = 0; SET jit = off; "
    "SELECT pg_catalog.set_config('client_connection_check_interval', '1s', false) "
    "WHERE pg_catalog.version() LIKE '%linux%'; "
    "SELECT pg_catalog.set_config('synchronous_commit', 'local', false) "
    "WHERE pg_catalog.current_setting('synchronous_commit') = 'off'; ";

// The steps of StartCapture(), in this order.
class CaptureStarter {
 public:
  explicit CaptureStarter(const CaptureParts& parts) : parts_(parts) {}

  absl::StatusOr<CaptureStart> Run() {
    parts_.board.Update([](CaptureStatus& status) { status.state = "connecting"; });
    AwaitSidecar();
    TTL_RETURN_IF_ERROR(ChooseTables());
    TTL_RETURN_IF_ERROR(OpenDatabase());
    TTL_RETURN_IF_ERROR(start_.tables.Load(*start_.database, parts_.config));
    TTL_RETURN_IF_ERROR(OpenSlot());
    TTL_RETURN_IF_ERROR(StartStream());
    return std::move(start_);
  }

 private:
  // The sidecar may take a moment to answer at the start; that is not a problem.
  void AwaitSidecar() {
    const absl::Time deadline = parts_.clock() + kFirstAnswer;
    while (parts_.containers.version() == 0 && !parts_.stop && parts_.clock() < deadline) {
      parts_.wake.Wait(-1, kStopInterval);
    }
  }

  absl::Status ChooseTables() {
    TTL_ASSIGN_OR_RETURN(start_.tables, CapturedTables::Choose(parts_.tables, parts_.containers));
    ShowLeftOut(start_.tables.left_out());
    return start_.tables.status();
  }

  // Logs each container once across all sessions.
  void ShowLeftOut(const std::map<std::string, std::string>& left_out) {
    parts_.board.Update([&](CaptureStatus& status) {
      for (const auto& [container, why] : left_out) {
        if (status.left_out.contains(container)) continue;
        spdlog::error("table left out: container=\"{}\" reason=\"{}\"", absl::CHexEscape(container),
                      absl::CHexEscape(why));
      }
      status.left_out = left_out;
    });
  }

  absl::Status OpenDatabase() {
    TTL_ASSIGN_OR_RETURN(start_.connection, Connection::Open(parts_.config.database, kCaptureName));
    const std::string settings = absl::StrCat(kSettings, Connection::kSystemNamesOnly);
    TTL_RETURN_IF_ERROR(start_.connection->Execute(settings).status());
    TTL_ASSIGN_OR_RETURN(
        const auto timeout,
        start_.connection->Query(
            "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'wal_sender_timeout'"));
    start_.status_interval = StatusInterval(absl::Milliseconds(timeout.Number(0, 0)));
    start_.database = std::make_unique<PatientQuery>(
        *start_.connection, std::min(start_.status_interval, kStopInterval), [&stop = parts_.stop] {
          return stop ? absl::CancelledError("stopping") : absl::OkStatus();
        });
    return absl::OkStatus();
  }

  absl::Status OpenSlot() {
    TTL_RETURN_IF_ERROR(AskKeeper());
    TTL_ASSIGN_OR_RETURN(start_.server, ReadSource(*start_.database));
    parts_.board.Update([&](CaptureStatus& status) {
      status.state = absl::StrCat("opening replication slot \"", parts_.config.slot,
                                  "\"; a new one waits for the running transactions");
    });
    bool is_new = false;
    const auto begin = parts_.slot.Open(*start_.database, [&] {
      is_new = true;
      return PrepareNewSlot();
    });
    ShowWaiting(false);
    TTL_RETURN_IF_ERROR(begin.status());
    start_.begin = *begin;
    return is_new ? Keep(At(*begin)) : FollowOn(At(*begin), start_.server.lsn);
  }

  absl::Status PrepareNewSlot() {
    // Do not create a slot that we cannot read: it would only retain WAL.
    TTL_RETURN_IF_ERROR(Connection::Open(parts_.config.replication_address(), kCaptureName,
                                         Connection::Kind::kReplication)
                            .status());
    ShowWaiting(true);
    TTL_ASSIGN_OR_RETURN(const bool is_loss, StartOver());
    if (is_loss) {
      spdlog::error(
          "replication slot \"{}\" is gone, and with it all changes since it was last read; "
          "a new one is made, and all tables are read again",
          parts_.config.slot);
    }
    return absl::OkStatus();
  }

  void ShowWaiting(bool waits) {
    parts_.board.Update([&](CaptureStatus& status) { status.is_waiting_for_transactions = waits; });
  }

  // Returns whether changes may have been lost.
  absl::StatusOr<bool> StartOver() {
    TTL_ASSIGN_OR_RETURN(const bool is_loss,
                         start_.tables.StartOver(*start_.database, parts_.config.schema));
    // The LSNs may belong to a different WAL.
    parts_.visible.StartOver();
    if (is_loss) parts_.board.Update([](CaptureStatus& status) { ++status.slots_lost; });
    return is_loss;
  }

  // The slot may be a different one with the same name, belong to another server, or be ahead of
  // the sidecar. The stream then lacks the changes in between, and all tables are read again.
  absl::Status FollowOn(const SourcePosition& begin, uint64_t wal_end) {
    std::string why = WhyChangesMayBeMissing(start_.keeper->kept(), begin, wal_end);
    // The server may have been restored to before a position that is acknowledged but not kept yet.
    const uint64_t acknowledged = parts_.visible.acknowledged();
    if (why.empty() && wal_end < acknowledged) {
      why = WhyChangesMayBeMissing(At(acknowledged), begin, wal_end);
    }
    if (why.empty()) return absl::OkStatus();
    TTL_ASSIGN_OR_RETURN(const bool is_loss, StartOver());
    if (is_loss) spdlog::error("all tables are read again: {}", why);
    return Keep(begin);
  }

  SourcePosition At(uint64_t lsn) const {
    return {start_.server.system_identifier, start_.server.timeline, lsn};
  }

  absl::Status AskKeeper() {
    start_.keeper = std::make_unique<PositionKeeper>(parts_.sidecar, parts_.config.sidecar,
                                                     [&wake = parts_.wake] { wake.Notify(); });
    start_.keeper->Ask();
    return AwaitKeeper();
  }

  absl::Status Keep(const SourcePosition& position) {
    start_.keeper->Keep(position);
    return AwaitKeeper();
  }

  absl::Status AwaitKeeper() {
    while (!parts_.stop) {
      if (const auto answer = start_.keeper->Take(); answer.has_value()) return *answer;
      parts_.wake.Wait(-1, kStopInterval);
    }
    return absl::CancelledError("stopping");
  }

  absl::Status StartStream() {
    TTL_ASSIGN_OR_RETURN(start_.stream,
                         ReplicationStream::Start(parts_.config.replication_address(),
                                                  parts_.config.slot, parts_.config.publication));
    start_.stream->set_interval(start_.status_interval);
    TTL_ASSIGN_OR_RETURN(start_.flushed, ReadFlushPosition(*start_.database));
    return absl::OkStatus();
  }

  const CaptureParts& parts_;
  CaptureStart start_;
};

}  // namespace

absl::StatusOr<CaptureStart> StartCapture(const CaptureParts& parts) {
  return CaptureStarter(parts).Run();
}

}  // namespace ttl::postgres
