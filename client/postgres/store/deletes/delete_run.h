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
#include "client/postgres/store/store_table.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace ttl::postgres {

// What bounds a DeleteItems.
struct DeleteBounds {
  absl::Duration lock_timeout;
  absl::Duration statement_timeout;
  absl::Time deadline;   // of the call, by our clock
  absl::Time not_after;  // by the database's clock
  // Of every row read: the VisiblePosition before this; 0: not known.
  uint64_t sequence = 0;
};

// One DeleteItems: transactions of as many items as fit; where a row makes one fail, one for each
// half of its items, down to the rows that are to blame. What does not fit into the time that is
// left is answered THROTTLED, with THROTTLE_REASON_OUT_OF_TIME. One thread.
class DeleteRun {
 public:
  // `connection`, `table` and `fit`, which is that of the table, must outlive this. `asked` must be
  // items of `request`; the items that are not among them are no rows of the table: NOT_FOUND.
  DeleteRun(Connection& connection, const StoreTable& table, const DeleteBounds& bounds,
            const v1::DeleteItemsRequest& request, BatchFit& fit);

  // UNAVAILABLE: the database as a whole cannot do it; the fate of the items is unknown.
  absl::StatusOr<v1::DeleteItemsResponse> Run();

  // Rows that this has read or written so far, as the statistics of PostgreSQL count them.
  int64_t rows_touched() const { return rows_touched_; }
  // Transactions that took longer than a statement may, or than the call had left.
  int64_t overruns() const { return overruns_; }

 private:
  using Items = absl::Span<const AskedItem>;

  absl::Status Delete(Items items);
  absl::Status DeleteHalves(Items items, const absl::Status& error);
  // Fails those that the last transaction refused, and deletes the others.
  absl::Status DeleteOthers(Items items);
  absl::Status Blame(const AskedItem& item, const absl::Status& error);

  // One transaction. Results are set only if it is OK.
  absl::Status Attempt(Items items);
  // False: not_after has passed.
  absl::StatusOr<bool> Begin();
  // The places in `items` of those that the table's `where` takes in: of all, if it has none.
  absl::StatusOr<std::vector<size_t>> TakenIn(Items items);
  // Runs a statement that has the operator's text in it, and none of whose rows have triggers.
  absl::StatusOr<QueryResult> QueryBySystemNames(
      const std::string& statement, const std::vector<Connection::Parameter>& parameters);
  absl::StatusOr<std::vector<v1::DeleteResult>> DeleteAndExplain(Items items, int& deleted);
  absl::Status Explain(Items items, const std::vector<bool>& held,
                       std::vector<v1::DeleteResult>& results);
  absl::Status RunDeferredTriggers(int deleted);
  // With on_expiry: archive or mark, after its statement: what was deleted but not moved, or marked
  // but left inside `where`, becomes FAILED, and nothing of it is to stay.
  struct Moved {
    int64_t rows = 0;            // that INSERT returned
    int64_t removed_before = 0;  // RemovedFromArchive(), before the statement
  };
  absl::Status ConfirmMoved(const Moved& moved, std::vector<v1::DeleteResult>& results,
                            int& deleted);
  absl::Status ConfirmMarked(Items items, std::vector<v1::DeleteResult>& results, int& deleted);
  void Refuse(const char* reason, std::vector<v1::DeleteResult>& results, int& deleted);
  // Of a table and its archive that are no longer what was checked: says why, or gives up if the
  // new shape is sound and will be followed soon.
  absl::Status ExplainArchive(const absl::Status& error);
  // Whether they are.
  absl::StatusOr<bool> IsArchiveAsChecked();
  // How many rows this session has deleted from the archive; to be compared within a transaction.
  absl::StatusOr<int64_t> RemovedFromArchive();
  absl::Status Finish(std::vector<v1::DeleteResult>& results, int deleted);
  absl::Status Rollback();

  // After such a fault: finds out, once, whether it is the table's. UNAVAILABLE if the
  // statement as such cannot be run; gives up if the table is locked as a whole.
  absl::Status ProbeTable(DeleteFault fault);
  // Whether the key's texts can be values of its columns.
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
  std::vector<AskedItem> asked_;

  v1::DeleteItemsResponse response_;
  // The first reading, so that no item is called not expired after the instant that the
  // answer carries.
  std::optional<absl::Time> store_now_;
  bool is_probed_ = false;
  // What is left is THROTTLED.
  bool is_given_up_ = false;
  // A row of the transaction was changed or moved by a trigger instead of deleted.
  bool is_rewritten_ = false;
  // The places of those that a transaction moved or marked in vain, as far as that can be told;
  // why.
  std::set<size_t> refused_;
  std::string refusal_;
  // Why the archive takes no row; what is left is FAILED.
  std::string archive_fault_;
  // The transaction moved rows by a definition that holds no longer.
  bool is_archive_changed_ = false;
  // The transaction had less time than a statement may take.
  bool is_cut_short_ = false;
  int64_t rows_touched_ = 0;
  int64_t overruns_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_DELETE_RUN_H_
