#include "service/storage/storage.h"

#include <optional>
#include <utility>

#include "service/base/status_macros.h"
#include "service/storage/commit/catalog.h"
#include "service/storage/commit/change_tap.h"
#include "service/storage/commit/commit_queue.h"
#include "service/storage/commit/item_reader.h"
#include "service/storage/commit/low_water_marks.h"
#include "service/storage/commit/record_cache.h"
#include "service/storage/commit/scan_marks.h"
#include "service/storage/commit/unannounced_marks.h"
#include "service/storage/engine/database.h"
#include "service/storage/engine/directory_mark.h"
#include "service/storage/feed/feed_log.h"
#include "service/storage/holds/hold_table.h"
#include "service/storage/upkeep/backup.h"
#include "service/storage/upkeep/housekeeper.h"
#include "service/storage/upkeep/invariants.h"
#include "service/storage/upkeep/recovery.h"
#include "service/storage/upkeep/verifier.h"

namespace ttl {

// In the order of construction; destruction in reverse is the order of closing:
// the queue commits what it holds while all that it works on is still there.
struct Storage::Parts {
  Parts(const StorageOptions& options, std::unique_ptr<Database> opened)
      : unmarked_directory(options.env == nullptr ? options.directory : ""),
        database(std::move(opened)),
        cache(options.record_cache_bytes),
        reader(*database, cache),
        queue(options, {*database, cache, catalog, hold_table, marks, due_changes, unannounced,
                        tallies, tombstones, purges, reader, scan_marks, feed_log, tap}),
        containers(catalog, queue, gate, tallies, hold_table),
        items(*database, queue, reader, data_trust),
        touches({queue, reader, gate, touch_waits}),
        scanned_items(*database, queue, catalog, tallies, data_trust, scan_marks),
        expiry_index(*database, reader, marks, feed_log, queue),
        unannounced_items(*database, reader, marks, unannounced),
        holds({*database, queue, reader, catalog, hold_table, tallies, gate}),
        feed({*database, queue, catalog, feed_log, hold_table, tallies, gate}),
        sidecar_state(*database, queue),
        housekeeper({*database, cache, catalog, hold_table, feed_log, marks, due_changes,
                     unannounced, tallies, tombstones, purges, queue},
                    [log = options.log](absl::string_view line) {
                      if (log) log(StorageOptions::LogLevel::kWarning, line);
                    }) {}

  // Marks the directory as soon as there is something to lose.
  void MarkOnceUsed() {
    if (unmarked_directory.empty() || sidecar_state.IsNew().value_or(true)) return;
    MarkUsed(std::exchange(unmarked_directory, ""));
  }

  std::string unmarked_directory;  // empty: nothing to do
  std::unique_ptr<Database> database;
  RecordCache cache;
  ItemReader reader;
  Catalog catalog;
  HoldTable hold_table;
  FeedLog feed_log;
  LowWaterMarks marks;
  DueChanges due_changes;
  UnannouncedMarks unannounced;
  Tallies tallies;
  TombstoneCounts tombstones;
  PendingPurges purges;
  ScanMarks scan_marks;
  ChangeTap tap;
  DataTrust data_trust;
  TouchWaits touch_waits;
  DeleteGate gate;
  CommitQueue queue;
  Containers containers;
  Items items;
  Touches touches;
  ScannedItems scanned_items;
  ExpiryIndex expiry_index;
  UnannouncedItems unannounced_items;
  Holds holds;
  Feed feed;
  SidecarState sidecar_state;
  Housekeeper housekeeper;
};

Storage::Storage(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Storage::~Storage() = default;

absl::StatusOr<std::unique_ptr<Storage>> Storage::Open(const StorageOptions& options) {
  TTL_RETURN_IF_ERROR(CheckFinished(options.directory));
  if (options.env == nullptr) TTL_RETURN_IF_ERROR(CheckNotEmptied(options.directory));
  TTL_ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(options));
  auto parts = std::make_unique<Parts>(options, std::move(database));
  TTL_RETURN_IF_ERROR(parts->catalog.Load(*parts->database));
  TTL_RETURN_IF_ERROR(parts->hold_table.Load(*parts->database, parts->catalog.All()));
  TTL_RETURN_IF_ERROR(
      parts->feed_log.Load(*parts->database, parts->catalog.All(), parts->catalog.DataFormat()));
  TTL_RETURN_IF_ERROR(parts->tallies.Load(*parts->database, parts->catalog));
  TTL_ASSIGN_OR_RETURN(const std::optional<DataDoubt> doubt, parts->sidecar_state.LoadDataDoubt());
  if (doubt.has_value()) parts->data_trust.Doubt(doubt->reason);
  std::unique_ptr<Storage> storage(new Storage(std::move(parts)));
  for (const std::string& problem : storage->Problems()) {
    if (options.log) options.log(StorageOptions::LogLevel::kError, problem);
  }
  return storage;
}

Containers& Storage::containers() { return parts_->containers; }
Items& Storage::items() { return parts_->items; }
Touches& Storage::touches() { return parts_->touches; }
ScannedItems& Storage::scanned_items() { return parts_->scanned_items; }
ExpiryIndex& Storage::expiry_index() { return parts_->expiry_index; }
Holds& Storage::holds() { return parts_->holds; }
Feed& Storage::feed() { return parts_->feed; }
SidecarState& Storage::sidecar_state() { return parts_->sidecar_state; }
DataTrust& Storage::data_trust() { return parts_->data_trust; }
DeleteGate& Storage::delete_gate() { return parts_->gate; }
DueChanges& Storage::due_changes() { return parts_->due_changes; }
UnannouncedItems& Storage::unannounced_items() { return parts_->unannounced_items; }
DueChanges& Storage::unannounced_changes() { return parts_->unannounced.changes; }

const Tallies& Storage::tallies() const { return parts_->tallies; }
uint64_t Storage::StoreEpoch() const { return parts_->catalog.StoreEpoch(); }

absl::Status Storage::WriteHealth() const { return parts_->database->WriteHealth(); }
void Storage::CheckFiles() { parts_->database->CheckFiles(); }

absl::Status Storage::OutcomeHealth() const {
  TTL_RETURN_IF_ERROR(WriteHealth());
  return parts_->queue.FloorRefusal(CommitQueue::Kind::kChange);
}

StorageFacts Storage::FactsForDeletes(uint64_t container) const {
  const ContainerPtr present = parts_->catalog.Find(container);
  return {.all_paused = parts_->containers.PauseOfAll().has_value(),
          .writable = OutcomeHealth().ok(),
          .change_under_way = parts_->gate.IsClosed(container),
          .data_in_doubt = parts_->data_trust.in_doubt(),
          .holds_all = parts_->holds.HoldsAll(container),
          .holds_in_doubt = present != nullptr && parts_->holds.AreInDoubt(*present),
          .has_gated_items = present != nullptr && parts_->feed.HasWaiting(*present)};
}

absl::Status Storage::ReportHealth() const {
  TTL_RETURN_IF_ERROR(WriteHealth());
  return parts_->queue.FloorRefusal(CommitQueue::Kind::kReport);
}

std::vector<std::string> Storage::Problems() const {
  std::vector<std::string> problems = parts_->catalog.Problems();
  for (std::string& problem : parts_->hold_table.Problems()) problems.push_back(std::move(problem));
  for (std::string& problem : parts_->feed_log.Problems()) problems.push_back(std::move(problem));
  return problems;
}

bool Storage::RunHousekeeping() {
  parts_->MarkOnceUsed();
  return parts_->housekeeper.RunOnce();
}

absl::Status Storage::CheckInvariants() const {
  return ttl::CheckInvariants(*parts_->database, parts_->catalog, parts_->tallies,
                              parts_->feed_log);
}

absl::StatusOr<std::unique_ptr<Backup>> Storage::StartBackup(absl::Time now) {
  return Backup::Start(*parts_->database, parts_->tap, now);
}

std::unique_ptr<Verifier> Storage::StartVerification() const {
  return std::make_unique<Verifier>(*parts_->database, parts_->catalog);
}

OperationCounts Storage::Counts() const { return parts_->database->Counts(); }

StorageFigures Storage::Figures() const {
  return {parts_->queue.Figures(), parts_->cache.Figures(), parts_->database->Figures()};
}

}  // namespace ttl
