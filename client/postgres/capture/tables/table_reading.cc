#include "client/postgres/capture/tables/table_reading.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/postgres/sql/group.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace ttl::postgres {
namespace {

// Pause before a page is retried whose table was locked.
constexpr absl::Duration kRetryPause = absl::Seconds(1);

void ForgetGhosts(TableProgress& progress) {
  progress.ghosts_after.clear();
  progress.ghosts_done = false;
}

}  // namespace

TableReading::TableReading(const TableDefinition& table, Parts parts, TableProgress noted,
                           uint64_t needed)
    : table_(table),
      parts_(std::move(parts)),
      scan_(table),
      lookup_(table),
      lister_(parts_.sidecar, parts_.on_change),
      read_(noted),
      durable_(noted),
      noted_(std::move(noted)),
      needed_(needed),
      rewritten_(table) {}

bool TableReading::is_done() const {
  return read_.scan_done && read_.ghosts_done && added_.empty() && pending_.empty();
}

absl::StatusOr<bool> TableReading::Step(absl::FunctionRef<absl::StatusOr<bool>()> sees_all,
                                        absl::Time now) {
  if (!has_work() || now < retry_at_ || !parts_.pipeline.HasRoom()) return false;
  if (parts_.visible.Get() < needed_) return false;
  const bool holds = IsTurnToHold();
  if (holds) {
    const auto held = HoldPage(now);
    if (!held.ok() || *held || now < retry_at_) return held;
  }
  // Search for ghosts first: deletes that find no row make the sidecar suspect the store.
  if (!read_.ghosts_done) return holds ? false : SweepPage(now);
  if (read_.scan_done && !ChooseAddition()) return false;
  const absl::StatusOr<bool> sees = sees_all();
  if (!sees.ok() || !*sees) return sees;
  return added_.empty() ? ScanTable(now) : ScanAddedPartition(now);
}

// Alternates with the search for ghosts, because each may restart whenever a partition changes.
bool TableReading::IsTurnToHold() const {
  if (!rewritten_.is_ready()) return false;
  if (lister_.is_pending()) return is_holding_;
  return read_.ghosts_done || !is_holding_;
}

// A partition is read only once its times are held, because its rows must have them.
bool TableReading::ChooseAddition() {
  const auto can_be_read = [this](const Partition& added) { return !rewritten_.IsDue(added.oid); };
  const auto chosen = std::find_if(added_.begin(), added_.end(), can_be_read);
  if (chosen == added_.end()) return false;
  if (chosen != added_.begin()) {
    std::rotate(added_.begin(), chosen, added_.end());
    added_after_.clear();
  }
  return true;
}

absl::StatusOr<bool> TableReading::HoldPage(absl::Time now) {
  if (!lister_.is_pending()) {
    is_holding_ = true;
    lister_.Ask(table_.config.container, hold_after_);
    return false;
  }
  const auto page = lister_.Take();
  if (!page.has_value()) return false;
  TTL_RETURN_IF_ERROR(page->status());
  const auto held = rewritten_.Hold(parts_.database, **page);
  if (absl::IsAborted(held.status())) {
    retry_at_ = now + kRetryPause;
    return false;
  }
  TTL_RETURN_IF_ERROR(held.status());
  held_ += *held;
  hold_after_ = (*page)->next_page_token();
  if (!hold_after_.empty()) return true;
  TTL_RETURN_IF_ERROR(rewritten_.Finish(parts_.database));
  spdlog::info("table {}.{} was rewritten: the times of {} rows are held", table_.config.schema,
               table_.config.table, held_);
  return true;
}

absl::StatusOr<bool> TableReading::SweepPage(absl::Time now) {
  if (!lister_.is_pending()) {
    is_holding_ = false;
    lister_.Ask(table_.config.container, read_.ghosts_after);
    return false;
  }
  const auto page = lister_.Take();
  if (!page.has_value()) return false;
  TTL_RETURN_IF_ERROR(page->status());
  const absl::Status untracked = Untrack(**page);
  if (absl::IsAborted(untracked)) {
    retry_at_ = now + kRetryPause;
    return false;
  }
  TTL_RETURN_IF_ERROR(untracked);
  read_.ghosts_after = (*page)->next_page_token();
  read_.ghosts_done = read_.ghosts_after.empty();
  Advanced();
  return true;
}

absl::Status TableReading::Untrack(const v1::ListItemsResponse& page) {
  // Read before the query: a row that exists but that the query does not see yet gets a higher
  // sequence.
  const uint64_t lsn = parts_.visible.Get();
  std::vector<ItemKeyText> keys;
  for (const v1::ItemView& view : page.items()) {
    keys.emplace_back(view.item().partition_key(), view.item().id());
  }
  TTL_ASSIGN_OR_RETURN(const auto existing, lookup_.Existing(parts_.database, keys));
  TTL_ASSIGN_OR_RETURN(const auto flushed, ReadFlushPosition(parts_.database));
  for (size_t i = 0; i < keys.size(); ++i) {
    // A sequence beyond the flush LSN is from a different WAL, as after a restore. Changes of this
    // WAL would look older, so the item is untracked, and its row, if any, will be read.
    const uint64_t known = page.items(static_cast<int>(i)).item().sequence();
    const bool is_of_another_wal = known > flushed;
    if (existing.contains(keys[i]) && !is_of_another_wal) continue;
    ++ghosts_;
    parts_.pipeline.Add(table_.config.container,
                        Report::Gone(std::move(keys[i].first), std::move(keys[i].second),
                                     is_of_another_wal ? known : lsn));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TableReading::ScanPage(const TableScan& scan, std::vector<std::string>& after,
                                            absl::Time now, bool& finished) {
  auto page = scan.ReadPage(parts_.database, after, parts_.options.page_rows, parts_.visible.Get(),
                            now, [this](RowReports row) { Take(std::move(row)); });
  if (absl::IsAborted(page.status())) {
    retry_at_ = now + kRetryPause;
    return false;
  }
  TTL_RETURN_IF_ERROR(page.status());
  read_.scanned += page->rows;
  if (page->rows > 0) after = std::move(page->last_key);
  finished = page->is_last;
  return true;
}

absl::StatusOr<bool> TableReading::ScanTable(absl::Time now) {
  if (!IsGroup(table_) && !std::exchange(has_estimate_, true)) {
    estimated_ = EstimateRows(parts_.database, table_).value_or(0);
  }
  // Partitions that are attached later are read separately.
  if (!read_.partitions.has_value()) {
    TTL_RETURN_IF_ERROR(CheckPartitions());
  }
  bool finished = false;
  const auto did = ScanPage(scan_, read_.scan_after, now, finished);
  if (!did.ok() || !*did) return did;
  if (finished) {
    read_.scan_done = true;
    read_.scan_after.clear();
  }
  Advanced();
  return true;
}

absl::StatusOr<bool> TableReading::ScanAddedPartition(absl::Time now) {
  const Partition& partition = added_.front();
  TTL_ASSIGN_OR_RETURN(const auto bounds, ReadBounds(parts_.database, partition));
  bool finished = false;
  const auto did =
      ScanPage(TableScan::OfPartition(table_, partition.oid, bounds), added_after_, now, finished);
  if (!did.ok() || !*did) return did;
  if (finished) {
    if (!read_.partitions.has_value()) read_.partitions.emplace();
    read_.partitions->insert(read_.partitions->end(), {partition.oid, partition.mark});
    added_.erase(added_.begin());
    added_after_.clear();
  }
  Advanced();
  return true;
}

void TableReading::Count(const RowReports& row) {
  if (row.exemption == Exemption::kNullTime) ++null_times_;
  if (row.untrackable.ok()) return;
  ++untrackable_;
  parts_.on_untrackable(table_, row.untrackable);
}

void TableReading::Take(RowReports row) {
  Count(row);
  for (Report& report : row.reports) {
    report.is_adopted = true;
    parts_.pipeline.Add(table_.config.container, std::move(report));
  }
}

void TableReading::Advanced() { pending_.push_back({parts_.pipeline.added(), read_}); }

absl::Status TableReading::Change(absl::FunctionRef<void(TableProgress&)> change) {
  change(read_);
  change(durable_);
  for (Pending& pending : pending_) change(pending.progress);
  lister_.Drop();
  if (durable_ == noted_) return absl::OkStatus();
  absl::Status stored =
      StoreProgress(parts_.database, parts_.schema, table_.config.container, durable_);
  if (stored.ok()) noted_ = durable_;
  return stored;
}

absl::Status TableReading::ReadAgain(uint64_t lsn) {
  needed_ = std::max(needed_, lsn);
  added_.clear();
  added_after_.clear();
  pending_.clear();
  rewritten_.Reset();
  return Change([](TableProgress& progress) { progress.StartOver(); });
}

absl::Status TableReading::SearchGhosts(uint64_t lsn) {
  needed_ = std::max(needed_, lsn);
  return Change(ForgetGhosts);
}

absl::Status TableReading::CheckFiles() {
  TTL_RETURN_IF_ERROR(CheckPartitions());
  return CheckRewrites();
}

// Until all rows are read, the sidecar's time of a row may be from before a gap in the stream.
absl::Status TableReading::CheckRewrites() {
  if (!durable_.scan_done || !read_.scan_done) {
    rewritten_.Reset();
    return absl::OkStatus();
  }
  const bool was_ready = rewritten_.is_ready();
  const int64_t choices = rewritten_.choices();
  absl::Status looked = rewritten_.Look(parts_.database, [this](uint32_t partition) {
    return std::any_of(added_.begin(), added_.end(),
                       [&](const Partition& added) { return added.oid == partition; });
  });
  const bool is_new = rewritten_.choices() != choices;
  if (is_new || was_ready != rewritten_.is_ready()) lister_.Drop();
  LogRewrite();
  if (!looked.ok() || !is_new) return looked;
  hold_after_.clear();
  held_ = 0;
  return NeedAllCommitted();
}

std::string TableReading::RewriteText() const {
  const std::string state = rewritten_.state();
  if (state.empty()) return "";
  return absl::StrCat("table ", table_.config.schema, ".", table_.config.table, " ", state);
}

void TableReading::LogRewrite() {
  const std::string text = RewriteText();
  if (text == logged_) return;
  logged_ = text;
  if (!text.empty()) spdlog::info("{}", text);
}

absl::Status TableReading::CheckPartitions() {
  // Other tables cannot change rows silently: the server protects the column types of a plain table
  // that is published with a column list.
  if (IsGroup(table_)) return CheckGroupTables();
  if (!table_.is_partitioned && !table_.publishes_all_columns) return absl::OkStatus();
  TTL_ASSIGN_OR_RETURN(const auto partitions, ReadPartitions(parts_.database, table_));
  const bool is_fresh = !read_.scan_done && read_.scan_after.empty();
  if (!read_.partitions.has_value() && is_fresh) {
    // The scan that starts now reads all of them.
    return Change(
        [&](TableProgress& progress) { progress.partitions = NotePartitions(partitions); });
  }
  PartitionChanges changes =
      ComparePartitions(read_.partitions.value_or(std::vector<uint32_t>()), partitions);
  changes.has_lost_rows = ForgetLostAdditions(partitions) || changes.has_lost_rows;
  if (changes.has_lost_rows) {
    TTL_RETURN_IF_ERROR(PartitionsLost(partitions));
  }
  return PartitionsAdded(changes.added);
}

// Tables of groups are not partitioned, and each change of a column type is noticed. But a rewrite
// makes condemned rows, which are recognized by their writers, rows of a new group, which the
// stream does not tell.
absl::Status TableReading::CheckGroupTables() {
  TTL_ASSIGN_OR_RETURN(auto tables, ReadPartitions(parts_.database, table_));
  for (const TableDefinition& member : table_.members) {
    TTL_ASSIGN_OR_RETURN(auto files, ReadPartitions(parts_.database, member));
    tables.insert(tables.end(), files.begin(), files.end());
  }
  const std::vector<uint32_t> present = NotePartitions(tables);
  if (read_.partitions == present) return absl::OkStatus();
  if (read_.partitions.has_value()) {
    spdlog::info("table {}.{}: reading its groups again, because a table was rewritten",
                 table_.config.schema, table_.config.table);
    TTL_RETURN_IF_ERROR(NeedAllCommitted());
    TTL_RETURN_IF_ERROR(ReadAgain(needed_));
  }
  return Change([&](TableProgress& progress) { progress.partitions = present; });
}

// Removes the added partitions that no longer exist as recorded: the rows that were read of them
// are gone. Names are compared, too, because another partition may have the name by now.
bool TableReading::ForgetLostAdditions(const std::vector<Partition>& partitions) {
  const auto is_gone = [&](const Partition& added) {
    return std::none_of(partitions.begin(), partitions.end(), [&](const Partition& partition) {
      return partition.oid == added.oid && partition.mark == added.mark &&
             partition.schema == added.schema && partition.name == added.name;
    });
  };
  const auto gone = std::remove_if(added_.begin(), added_.end(), is_gone);
  if (gone == added_.end()) return false;
  added_.erase(gone, added_.end());
  added_after_.clear();
  return true;
}

absl::Status TableReading::PartitionsLost(const std::vector<Partition>& partitions) {
  spdlog::info("table {}.{}: partitions have gone or were emptied; looking for items without a row",
               table_.config.schema, table_.config.table);
  const absl::Status noted = Change([&](TableProgress& progress) {
    if (!progress.partitions.has_value()) progress.partitions.emplace();
    progress.partitions = ComparePartitions(*progress.partitions, partitions).noted;
    ForgetGhosts(progress);
  });
  return noted.ok() ? NeedPresent() : noted;
}

absl::Status TableReading::PartitionsAdded(const std::vector<Partition>& partitions) {
  for (const Partition& partition : partitions) {
    const auto is_same = [&](const Partition& other) { return other.oid == partition.oid; };
    if (std::any_of(added_.begin(), added_.end(), is_same)) continue;
    spdlog::info("table {}.{}: reading partition {}.{}, which is new", table_.config.schema,
                 table_.config.table, partition.schema, partition.name);
    added_.push_back(partition);
    TTL_RETURN_IF_ERROR(NeedPresent());
  }
  return absl::OkStatus();
}

absl::Status TableReading::NeedPresent() {
  TTL_ASSIGN_OR_RETURN(const auto flushed, ReadFlushPosition(parts_.database));
  // A commit that ends at the flush LSN is acknowledged as the LSN before it.
  needed_ = std::max(needed_, flushed - 1);
  return absl::OkStatus();
}

absl::Status TableReading::NeedAllCommitted() {
  TTL_ASSIGN_OR_RETURN(const auto inserted, ReadInsertPosition(parts_.database));
  needed_ = std::max(needed_, inserted - 1);
  return absl::OkStatus();
}

absl::Status TableReading::Note(absl::Time now) {
  const uint64_t durable = parts_.pipeline.durable();
  while (!pending_.empty() && pending_.front().reports <= durable) {
    durable_ = std::move(pending_.front().progress);
    pending_.pop_front();
  }
  const bool is_due = is_done() || now - last_note_ >= parts_.options.progress_interval;
  if (durable_ == noted_ || !is_due) return absl::OkStatus();
  absl::Status stored =
      StoreProgress(parts_.database, parts_.schema, table_.config.container, durable_);
  if (stored.ok()) {
    noted_ = durable_;
    last_note_ = now;
  }
  return stored;
}

TableStatus TableReading::status() const {
  TableStatus status;
  status.container = table_.config.container;
  status.scanned = durable_.scanned;
  status.estimated = estimated_;
  status.scan_done = durable_.scan_done && added_.empty();
  status.ghosts_done = durable_.ghosts_done;
  status.ghosts = ghosts_;
  status.untrackable = untrackable_;
  status.null_times = null_times_;
  return status;
}

void TableReading::ShowIn(TableStatus& shown) {
  TableStatus status = this->status();
  status.ghosts = shown.ghosts + ghosts_ - std::exchange(shown_ghosts_, ghosts_);
  status.untrackable =
      shown.untrackable + untrackable_ - std::exchange(shown_untrackable_, untrackable_);
  status.null_times =
      shown.null_times + null_times_ - std::exchange(shown_null_times_, null_times_);
  shown = std::move(status);
}

}  // namespace ttl::postgres
