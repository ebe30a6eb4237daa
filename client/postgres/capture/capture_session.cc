#include "client/postgres/capture/capture_session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/postgres/capture/tables/published_tables.h"
#include "client/postgres/row/lsn.h"
#include "client/postgres/row/observe_snapshot.h"
#include "client/postgres/sql/connect/sql_status.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

// A session is one thread that never waits for more than one thing at a time. StartCapture() does
// all that must succeed first. Then a loop takes what the stream has, does the steps that are due,
// reads a little of a table that is not read yet, and waits for the stream if there was nothing to
// do. Only queries of the database block, and those call Meanwhile() as long as they run.

namespace ttl::postgres {
namespace {

constexpr absl::Duration kIdleWait = absl::Milliseconds(500);
constexpr absl::Duration kReadingWait = absl::Milliseconds(20);

ReportPipeline::Options PipelineOptions(const Config& config) {
  ReportPipeline::Options options;
  options.address = config.sidecar;
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CaptureSession>> CaptureSession::Start(const CaptureParts& parts) {
  TTL_ASSIGN_OR_RETURN(CaptureStart start, StartCapture(parts));
  if (start.begin > 0) parts.visible.Acknowledge(start.begin - 1);
  spdlog::info("capturing {} tables from replication slot \"{}\" at {}", start.tables.size(),
               parts.config.slot, FormatLsn(start.begin));
  return std::unique_ptr<CaptureSession>(new CaptureSession(parts, std::move(start)));
}

CaptureSession::CaptureSession(const CaptureParts& parts, CaptureStart start)
    : parts_(parts),
      stub_(v1::ItemService::NewStub(parts.sidecar)),
      start_(std::move(start)),
      pipeline_(*stub_, PipelineOptions(parts.config), parts.clock,
                [&wake = parts.wake] { wake.Notify(); }),
      acknowledger_(std::move(start_.keeper), start_.server, start_.begin, parts.visible),
      // The stream lacks earlier commits, or has them as of another publication, so a reading waits
      // until queries see them.
      readings_(parts, start_.tables, *start_.database, *stub_, pipeline_, start_.flushed - 1),
      reader_({start_.tables, *start_.database, pipeline_, readings_, acknowledger_.positions(),
               parts.clock},
              start_.begin),
      writer_({parts.board, parts.config.sidecar, parts.slot, pipeline_, reader_, acknowledger_,
               readings_},
              start_.flushed),
      steps_({[this](absl::Time now) { return reader_.LookUpChanged(now); },
              [this](absl::Time now) { return Acknowledge(now); },
              [this](absl::Time now) { return CheckCatalog(now); },
              [this](absl::Time now) { return ObserveSnapshots(now); }}) {
  start_.database->set_meanwhile([this] { return Meanwhile(); });
}

absl::Status CaptureSession::Run() {
  absl::Status status = RunLoop();
  if (status.ok() || absl::IsCancelled(status)) return absl::OkStatus();
  return WithAdvice(std::move(status));
}

absl::Status CaptureSession::RunLoop() {
  while (!parts_.stop) {
    absl::Time now = parts_.clock();
    TTL_RETURN_IF_ERROR(pipeline_.status());
    TTL_RETURN_IF_ERROR(start_.tables.CheckContainers(parts_.containers));
    TTL_ASSIGN_OR_RETURN(const bool has_read, reader_.Read(*start_.stream));
    for (const Step& step : steps_) TTL_RETURN_IF_ERROR(step(now));
    TTL_ASSIGN_OR_RETURN(const bool has_read_table,
                         readings_.Step([this] { return reader_.QueriesSeeAll(); }, now));
    now = parts_.clock();
    pipeline_.Flush(now);
    start_.stream->KeepAlive(acknowledger_.Confirmed(), now);
    writer_.Write(now);
    if (has_read || has_read_table) continue;
    parts_.wake.Wait(reader_.CanRead() ? start_.stream->socket() : -1, LongestWait(now));
  }
  // Reduce the changes that the next session captures again.
  TTL_RETURN_IF_ERROR(Acknowledge(parts_.clock()));
  start_.stream->SendStatus(acknowledger_.Confirmed(), parts_.clock());
  return absl::OkStatus();
}

absl::Duration CaptureSession::LongestWait(absl::Time now) const {
  const bool is_soon =
      readings_.has_work() || acknowledger_.has_news() || reader_.has_changed_rows();
  return std::min({start_.status_interval, is_soon ? kReadingWait : kIdleWait,
                   std::max(pipeline_.flush_due() - now, absl::ZeroDuration())});
}

absl::Status CaptureSession::Acknowledge(absl::Time now) {
  return acknowledger_.Step(pipeline_.durable(), now, *start_.stream);
}

absl::Status CaptureSession::CheckCatalog(absl::Time now) {
  if (now - last_catalog_ < parts_.options.catalog_interval) return absl::OkStatus();
  last_catalog_ = now;
  TTL_RETURN_IF_ERROR(CheckSlot());
  return CheckPublished(*start_.database, parts_.config.publication, start_.tables, readings_);
}

// Ends the session, and drops the slot, if that keeps too much WAL.
absl::Status CaptureSession::CheckSlot() {
  const absl::Status status = parts_.slot.Check(*start_.database);
  if (!absl::IsResourceExhausted(status) || !SqlState(status).empty()) return status;
  spdlog::error("{}", std::string(status.message()));
  start_.stream.reset();
  TTL_RETURN_IF_ERROR(parts_.slot.Drop(*start_.database));
  return status;
}

absl::Status CaptureSession::ObserveSnapshots(absl::Time now) {
  const bool is_behind = parts_.visible.Get() < parts_.visible.acknowledged();
  const absl::Duration interval = readings_.has_work()
                                      ? std::min(kReadingWait, parts_.options.snapshot_interval)
                                      : parts_.options.snapshot_interval;
  if (now - last_snapshot_ < interval) return absl::OkStatus();
  last_snapshot_ = now;
  // Forget transactions that queries see by now.
  if (reader_.unseen() > 0) TTL_RETURN_IF_ERROR(reader_.QueriesSeeAll().status());
  if (!is_behind) return absl::OkStatus();
  return ObserveSnapshot([this](const char* query) { return start_.database->Query(query); },
                         parts_.visible);
}

absl::Status CaptureSession::Meanwhile() {
  if (parts_.stop) return absl::CancelledError("stopping");
  if (start_.stream == nullptr) return absl::OkStatus();
  start_.stream->KeepAlive(acknowledger_.Confirmed(), parts_.clock());
  return pipeline_.status();
}

absl::Status CaptureSession::WithAdvice(absl::Status status) {
  constexpr char kUndefinedObject[] = "42704";
  if (start_.stream == nullptr || SqlState(status) != kUndefinedObject) return status;
  const auto found = start_.connection->Query(
      "SELECT FROM pg_catalog.pg_publication WHERE pubname = $1", {parts_.config.publication});
  if (!found.ok()) return status;
  // The publication is newer than the slot, which cannot decode earlier WAL with it.
  if (found->rows() > 0) {
    parts_.slot.SetUseless();
    return status;
  }
  return absl::FailedPreconditionError(absl::StrCat("publication \"", parts_.config.publication,
                                                    "\" does not exist: `ttl-postgres install` "
                                                    "makes it"));
}

}  // namespace ttl::postgres
