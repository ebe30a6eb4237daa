#ifndef TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_RUN_H_
#define TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_RUN_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/postgres/sql/connect/connection.h"
#include "client/postgres/sql/connect/query_result.h"
#include "client/postgres/store/asked_item.h"
#include "client/postgres/store/deletes/batch_fit.h"
#include "client/postgres/store/deletes/delete_fault.h"
#include "client/postgres/store/deletes/large_groups.h"
#include "client/postgres/store/store_table.h"
#include "service/base/wall_clock.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {

// Limits of a DeleteItems call.
struct DeleteBounds {
  absl::Duration lock_timeout;
  absl::Duration statement_timeout;
  absl::Time deadline;   // of the call, by our clock
  absl::Time not_after;  // by the database's clock
  // The sequence of every row read: VisiblePosition::Get() from before the run; 0: unknown.
  uint64_t sequence = 0;
  WallClock clock;  // ours
};

// DeleteRun executes one DeleteItems call, by transactions of as many items as fit. If a row makes
// a transaction fail, each half of its items is retried in its own transaction, down to the rows
// that cause the failure. Items that do not fit into the remaining time are THROTTLED, with
// THROTTLE_REASON_OUT_OF_TIME. Not thread-safe.
class DeleteRun {
 public:
  // `connection`, `table`, `request`, and `fit` and `large`, which are those of the table, must
  // outlive the run.
  // Items of `request` whose key no row of the table can have are NOT_FOUND.
  DeleteRun(Connection& connection, const StoreTable& table, const DeleteBounds& bounds,
            const v1::DeleteItemsRequest& request, BatchFit& fit, LargeGroups& large);

  // UNAVAILABLE: the database as a whole fails; the outcome of the items is unknown.
  absl::StatusOr<v1::DeleteItemsResponse> Run();

  // Rows that the run has read or written so far, as PostgreSQL's statistics count them.
  int64_t rows_touched() const { return rows_touched_; }
  // Transactions that exceeded the statement timeout or the call's remaining time.
  int64_t overruns() const { return overruns_; }

 private:
  using Items = absl::Span<const AskedItem>;

  // The number of items of the next transaction.
  size_t NextSize(Items left) const;
  absl::Status Delete(Items items);
  // Waits for the locks of a few of the groups that others had locked, each in its own transaction.
  absl::Status AwaitTurns();
  absl::Status DeleteHalves(Items items, const absl::Status& error);
  // Fails the items that the last transaction refused, and deletes the others.
  absl::Status DeleteOthers(Items items);
  absl::Status Blame(const AskedItem& item, const absl::Status& error);

  // Whether groups may be condemned: see group_condemned.h.
  bool HasEntries() const;
  // Whether groups that are too large for one transaction can be condemned.
  bool CanCondemn() const;
  absl::Status Condemn(const AskedItem& item);
  // Forgets that the group took too long if its outcome ends that.
  void NoteEnd(const AskedItem& item);
  // Logs the groups that the transaction, which is committed, has condemned.
  void TellCondemned(Items items);

  // Runs one transaction. Sets results only if it returns OK.
  absl::Status Attempt(Items items);
  // Returns false if not_after has passed.
  absl::StatusOr<bool> Begin();
  // Returns the indexes in `items` of those whose row satisfies the table's `where`; all if there
  // is none.
  absl::StatusOr<std::vector<size_t>> TakenIn(Items items);
  absl::StatusOr<std::vector<v1::DeleteResult>> DeleteAndExplain(Items items, int& deleted);
  // The same for groups.
  absl::StatusOr<std::vector<v1::DeleteResult>> DeleteAndExplainGroups(Items items, int& deleted);
  // Condemns those of the groups at `judged` that are condemned already, or all while
  // is_condemning_, sets their results, and returns the others.
  absl::StatusOr<std::vector<size_t>> CondemnSome(Items items, const std::vector<size_t>& judged,
                                                  std::vector<v1::DeleteResult>& results);
  // Groups of which only condemned rows are left are THROTTLED, or FAILED with the reason.
  absl::Status ExplainCondemned(Items items, std::vector<v1::DeleteResult>& results);
  // GroupSql::why_unguarded(); empty: nothing.
  absl::StatusOr<std::string> WhyUnguarded();
  // Returns the indexes of the groups that are locked.
  absl::StatusOr<std::vector<size_t>> LockGroups(Items items);
  // Deletes the rows of the groups at `places` in `items`, which are locked and judged.
  absl::Status DeleteGroups(Items items, const std::vector<size_t>& places,
                            std::vector<v1::DeleteResult>& results, int& deleted);
  // Sets is_too_large_ if a statement that began then exceeded statement_timeout. Returns `status`.
  absl::Status NoteTooLarge(const absl::Status& status, absl::Time began);
  // Makes FAILED the deleted groups that still have rows, since a trigger has kept or made them;
  // all if another table has taken a name meanwhile.
  absl::Status ConfirmGroups(Items items, std::vector<v1::DeleteResult>& results, int& deleted);
  // Returns the indexes among `places` of the items that a statement of GroupSql returns.
  absl::StatusOr<std::vector<size_t>> ChosenBy(const std::string& statement, Items items,
                                               const std::vector<size_t>& places);
  absl::Status Explain(Items items, const std::vector<bool>& held,
                       std::vector<v1::DeleteResult>& results);
  absl::Status RunDeferredTriggers(int deleted);
  // With on_expiry: archive or mark, runs after its statement: rows that were deleted but not
  // moved, or marked but still satisfy `where`, become FAILED, and nothing of them is committed.
  struct Moved {
    int64_t rows = 0;            // that INSERT returned
    int64_t removed_before = 0;  // RemovedFromArchive() before the statement
  };
  absl::Status ConfirmMoved(const Moved& moved, std::vector<v1::DeleteResult>& results,
                            int& deleted);
  absl::Status ConfirmMarked(Items items, std::vector<v1::DeleteResult>& results, int& deleted);
  void Refuse(const std::string& reason, std::vector<v1::DeleteResult>& results, int& deleted);
  // Handles a table or archive that differs from the checked one: sets the reason, or gives up if
  // the new definition is valid and will be followed soon.
  absl::Status ExplainArchive(const absl::Status& error);
  // Whether the table and its archive are as checked.
  absl::StatusOr<bool> IsArchiveAsChecked();
  // Rows that this session has deleted from the archive; comparable only within a transaction.
  absl::StatusOr<int64_t> RemovedFromArchive();
  // Commits if items were changed: deleted or condemned.
  absl::Status Finish(std::vector<v1::DeleteResult>& results, int changed);
  absl::Status Rollback();

  // Runs the statements of a delete with no items.
  absl::Status TryDelete();
  // Determines once whether a fault concerns the whole table. UNAVAILABLE if the statement itself
  // cannot run; gives up if the whole table is locked.
  absl::Status ProbeTable(DeleteFault fault);
  // Whether the key's texts are valid values of its columns.
  absl::StatusOr<bool> CanBeKey(const AskedItem& item);

  absl::Duration TimeLeft() const;
  void SetRetryAfter();
  void SetAllThrottled(Items items, v1::ThrottleReason reason);
  void FailAll(Items items, const std::string& reason);
  v1::DeleteResult& ResultOf(const AskedItem& item) {
    return *response_.mutable_results(item.position);
  }

  Connection& connection_;
  const StoreTable& table_;
  const DeleteBounds bounds_;
  const v1::DeleteItemsRequest& request_;
  BatchFit& fit_;
  LargeGroups& large_;
  std::vector<AskedItem> asked_;

  v1::DeleteItemsResponse response_;
  // The first reading of the clock, so that NOT_EXPIRED never refers to a time after the one in the
  // answer.
  std::optional<absl::Time> store_now_;
  bool is_probed_ = false;
  // The remaining items are THROTTLED.
  bool is_given_up_ = false;
  // The transaction waits for the lock of its one group.
  bool awaits_lock_ = false;
  // The transaction condemns its one group instead of deleting it.
  bool is_condemning_ = false;
  // A delete of the transaction's groups exceeded the whole statement_timeout by itself.
  bool is_too_large_ = false;
  // Indexes of the items whose group the transaction has condemned.
  std::vector<size_t> condemned_;
  // Indexes of the items of the transaction whose group it could not lock.
  std::vector<size_t> unlocked_;
  // The items of earlier transactions that were THROTTLED for that.
  std::vector<AskedItem> contended_;
  // A trigger changed or moved a row of the transaction instead of deleting it.
  bool is_rewritten_ = false;
  // Indexes of the items that a transaction moved or marked without effect, as far as known, and
  // the reason.
  std::set<size_t> refused_;
  std::string refusal_;
  // Why the archive accepts no rows; the remaining items are FAILED.
  std::string archive_fault_;
  // The transaction moved rows by an outdated definition.
  bool is_archive_changed_ = false;
  // The transaction had less time than the statement timeout.
  bool is_cut_short_ = false;
  int64_t rows_touched_ = 0;
  int64_t overruns_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_RUN_H_
