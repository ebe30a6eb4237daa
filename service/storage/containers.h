#ifndef TTL_SERVICE_STORAGE_CONTAINERS_H_
#define TTL_SERVICE_STORAGE_CONTAINERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/core/container.h"
#include "service/storage/commit/container_changes.h"

namespace ttl {

class Catalog;
class CommitQueue;
class DeleteGate;
class HoldTable;
class Tallies;
class Transaction;
class WakeSignal;

// The errors of ValidateSettings() for `next`, and of CheckTimeZone() if it has other windows than
// `present`.
absl::Status ValidateChange(const ContainerSettings& present, const ContainerSettings& next);

// Whether an update from `present` to `next` takes the expiry index away.
bool TakesIndexAway(const ContainerSettings& present, const ContainerSettings& next);

// OK if `holds`, the number of holds that stand on items of `container`, is 0; else
// FAILED_PRECONDITION, as Update() and Delete() answer without force.
absl::Status CheckNoHoldStands(const Container& container, int64_t holds);

// Whether an update of `container` to `next` drops the log that its subscriptions read, or takes
// the expiry index away while one of them is a gate.
bool BreaksSubscriptions(const Container& container, const ContainerSettings& next);

// OK if `subscriptions`, the number of those of the feed of `container`, is 0; else
// FAILED_PRECONDITION, as Update() and Delete() answer without force.
absl::Status CheckNoSubscriptionStands(const Container& container, int64_t subscriptions);

// The containers: their lookup, and every change of a policy or pause. A change is validated
// against the committed state, is durable when answered, and is visible to the next Find().
// Update(), Delete() and the pauses close the delete gate first, wait for deletes in flight (at
// most for their deadline), commit, and open it again. Thread-safe. Errors of all changes, besides
// those named: UNAVAILABLE if storage refuses writes, RESOURCE_EXHAUSTED if too many changes are
// queued.
class Containers {
 public:
  Containers(Catalog& catalog, CommitQueue& queue, DeleteGate& gate, const Tallies& tallies,
             const HoldTable& holds);

  // Null if there is no such container.
  ContainerPtr Find(absl::string_view id) const;
  ContainerPtr Find(uint64_t number) const;

  // At most `limit` containers with an id greater than `after`, in the order of ids. The empty
  // string comes before all.
  std::vector<ContainerPtr> List(absl::string_view after, size_t limit) const;

  // All containers, in no particular order, and their number.
  std::vector<ContainerPtr> All() const;
  size_t Count() const;

  // The version of the set of containers: grows with every change that owners make, and starts
  // again at every start of the process. ChangesAfter() returns what changed after a revision, at
  // most `limit` changes; absent if that revision is too old: then use List().
  uint64_t Revision() const;
  std::optional<ContainerChanges> ChangesAfter(uint64_t revision, size_t limit) const;

  // Notifies `signal` whenever Revision() has grown, until it is removed.
  void AddListener(WakeSignal& signal);
  void RemoveListener(WakeSignal& signal);

  // ALREADY_EXISTS, or the errors of ValidateContainerId() and ValidateChange().
  void Create(std::string id, ContainerSettings settings, absl::Time now, Done<ContainerPtr> done);

  // Computes the new settings from the present container; may refuse.
  using Change = absl::AnyInvocable<absl::StatusOr<ContainerSettings>(const Container&)>;

  // NOT_FOUND, or the errors of `change` and of ValidateSettings(). A replaced policy holds deletes
  // back for `grace` (see due_rules.h); for longer if the change pulls the brake of the new
  // settings, judged by the items committed until then. FAILED_PRECONDITION if the new mode is NONE
  // while holds stand, or if the feed is switched off while it has subscriptions, unless `force`.
  // The holds of a container that is to require them from now on count as complete.
  void Update(std::string id, Change change, absl::Time now, absl::Duration grace, bool force,
              Done<ContainerPtr> done);

  // Confirms the change that pulled the brake, and the adopted items that wait: their items are due
  // from now on. Other holds and the etag do not change. NOT_FOUND; ABORTED if `etag` is not empty
  // and not the current one; FAILED_PRECONDITION if no brake is pulled at `now` and no adopted item
  // waits.
  void ConfirmPolicy(std::string id, std::string etag, absl::Time now, Done<ContainerPtr> done);

  // Call it before adopted items are deleted: pulls the brake if there are too many of them.
  // Answers whether it is pulled now, so that none may be deleted. NOT_FOUND.
  void PullBrakeIfTooManyAdopted(uint64_t number, absl::Time now, Done<bool> done);

  // NOT_FOUND; ABORTED if `etag` is not empty and not the current one; FAILED_PRECONDITION if holds
  // stand or its feed has subscriptions, unless `force`.
  void Delete(std::string id, std::string etag, bool force, DoneStatus done);

  // Sets or, with nullopt, ends the pause of one container. NOT_FOUND.
  void SetPause(std::string id, std::optional<Pause> pause, Done<ContainerPtr> done);

  // The pause of all containers.
  std::optional<Pause> PauseOfAll() const;
  void SetPauseOfAll(std::optional<Pause> pause, DoneStatus done);

 private:
  // Closes the gate of `container`, runs `change` on a commit thread when no delete is in flight,
  // opens the gate, then calls `done`.
  void ChangeBehindGate(uint64_t container, absl::AnyInvocable<absl::Status(Transaction&)> change,
                        DoneStatus done);

  Catalog& catalog_;
  CommitQueue& queue_;
  DeleteGate& gate_;
  const Tallies& tallies_;
  const HoldTable& holds_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_CONTAINERS_H_
