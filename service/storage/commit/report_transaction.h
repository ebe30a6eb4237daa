#ifndef TTL_SERVICE_STORAGE_COMMIT_REPORT_TRANSACTION_H_
#define TTL_SERVICE_STORAGE_COMMIT_REPORT_TRANSACTION_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "service/storage/commit/transaction.h"

namespace ttl {

// The part of a Transaction that reports may use. Reports are gathered while the commit before
// theirs is still being written, so each read here also sees the changes of that commit. All other
// reads of a Transaction see the committed state only, and writes that depend on those could
// overwrite what is being written. A view: the transaction must outlive it. For one thread at a
// time. The functions are those of Transaction, with the same errors.
class ReportTransaction {
 public:
  explicit ReportTransaction(Transaction& transaction) : transaction_(transaction) {}

  ContainerPtr FindContainer(uint64_t number) const { return transaction_.FindContainer(number); }
  absl::StatusOr<StoredItemPtr> GetItem(uint64_t container, const ItemKey& key) const {
    return transaction_.GetItem(container, key);
  }
  uint64_t StoreEpoch() const { return transaction_.StoreEpoch(); }

  void PutReportedItem(const Container& container, const ItemKey& key, const StoredItemPtr& before,
                       StoredItem after) {
    transaction_.PutReportedItem(container, key, before, std::move(after));
  }
  void PutTouchedItem(const Container& container, const ItemKey& key, const StoredItemPtr& before,
                      StoredItem after) {
    transaction_.PutTouchedItem(container, key, before, std::move(after));
  }
  void EraseItem(const Container& container, const ItemKey& key, const StoredItemPtr& before) {
    transaction_.EraseItem(container, key, before);
  }
  void NoteRemoval(const Container& container, const ItemKey& key, int64_t ts,
                   std::optional<uint64_t> sequence) {
    transaction_.NoteRemoval(container, key, ts, sequence);
  }

 private:
  Transaction& transaction_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_COMMIT_REPORT_TRANSACTION_H_
