#ifndef TTL_SERVICE_STORAGE_LEVERS_H_
#define TTL_SERVICE_STORAGE_LEVERS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/base/done.h"
#include "service/base/mutex.h"
#include "service/core/state/data_trust.h"
#include "service/core/state/delete_limit.h"
#include "service/core/state/store_trust.h"
#include "service/storage/storage.h"

namespace ttl {

// The only writer, once a sidecar runs, of the state that all deletes obey: the limit over all
// containers, whether the connected store is the right one, and whether the tracked data is
// complete. A change that lets more be deleted is committed before the copy in memory changes, so
// that no delete relies on what a crash would forget. A doubt counts in memory first, because it
// must stop deletes at once.
//
// Functions without `done` wait for the commit; `done` is called on the thread that commits.
// Errors are those of storage, and leave the state as it was, but for a doubt. Thread-safe.
class Levers {
 public:
  struct Options {
    // The limit that the server's option sets; absent: no limit.
    std::optional<double> default_limit_per_second = {};
    // Whether a store is configured. Without one, it is ignored that another store was connected
    // before, because it could not be confirmed.
    bool has_store = true;
    // Called after each change that may let deletes proceed. Must not block. May be empty.
    std::function<void()> on_change = {};
    // Called, besides, after ConfirmStore, which begins a rebuild. Must not block. May be empty.
    std::function<void()> on_store_confirmed = {};
  };

  // Loads what is stored. `storage` must outlive this. DATA_LOSS if it cannot be read.
  static absl::StatusOr<std::unique_ptr<Levers>> Load(Storage& storage, Options options);

  // The limit that ResetLimit() sets.
  std::optional<double> default_limit() const { return options_.default_limit_per_second; }
  const DeleteLimit& limit() const { return limit_; }
  const StoreTrust& store_trust() const { return store_trust_; }

  // Deletes per second over all containers; absent: no limit, 0: none.
  void SetLimit(std::optional<double> per_second, DoneStatus done);
  // Back to the server's option.
  void ResetLimit(DoneStatus done);

  // The first store ever is the right one.
  absl::Status TakeFirstStore(const std::string& store_id);
  // The connected store has this identity. If it is another store than the right one, that is kept
  // for the next start; called again, it retries what could not be written.
  absl::Status MeetStore(const std::string& store_id);
  // The connected store must be confirmed, for this reason.
  absl::Status DoubtStore(const std::string& reason);
  // An operator confirms the store, which may have been restored: the data is then in doubt.
  void ConfirmStore(const std::string& store_id, DoneStatus done);

  // The data that was in doubt for `reason` is complete; nothing happens if it is in doubt for
  // another reason by now. The first is for an operator's word, the second for a rebuild.
  void TrustData(const std::string& reason, DoneStatus done);
  absl::Status EndRebuild(const std::string& reason);

 private:
  Levers(Storage& storage, Options options, std::optional<double> limit,
         std::optional<std::string> store_id, std::string doubt,
         std::optional<std::string> other_store_id);

  DoneStatus LimitSetter(std::optional<double> per_second, DoneStatus done);
  void MarkDataComplete(const std::string& reason);
  absl::Status KeepOtherStore();
  void NotifyChange() const;

  Storage& storage_;
  const Options options_;
  DeleteLimit limit_;
  StoreTrust store_trust_;
  Mutex mutex_;
  std::optional<std::string> other_store_id_ ABSL_GUARDED_BY(mutex_);  // as stored durably
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_LEVERS_H_
