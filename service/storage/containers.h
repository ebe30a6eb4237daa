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
class Tallies;
class Transaction;
class WakeSignal;

// The containers: their lookup, and every change of policy or pause. Changes are
// validated on the committed state, durable when answered, and seen by the very
// next Find(). Update, Delete and the pauses close the delete gate first, wait
// for deletes on their way (at most their deadline), commit, and open it again.
// Thread-safe. Errors of all changes, besides those named: UNAVAILABLE if storage
// refuses writes, RESOURCE_EXHAUSTED if too many changes are waiting.
class Containers {
 public:
  Containers(Catalog& catalog, CommitQueue& queue, DeleteGate& gate, const Tallies& tallies);

  // Null if there is no living container of that id.
  ContainerPtr Find(absl::string_view id) const;
  ContainerPtr Find(uint64_t number) const;

  // At most `limit` living containers with an id greater than `after`, in the
  // order of ids. The empty string comes before all.
  std::vector<ContainerPtr> List(absl::string_view after, size_t limit) const;

  // All living containers, in no particular order, and how many there are.
  std::vector<ContainerPtr> All() const;
  size_t Count() const;

  // Version of the set of living containers: grows with every change that their owners
  // make, and begins anew with every start. What came after a revision, at most `limit`
  // changes of it; absent if that is too long ago to be told: then List() tells what
  // there is now.
  uint64_t Revision() const;
  std::optional<ContainerChanges> ChangesAfter(uint64_t revision, size_t limit) const;

  // Notifies `signal` whenever Revision() has grown, until it is removed.
  void AddListener(WakeSignal& signal);
  void RemoveListener(WakeSignal& signal);

  // ALREADY_EXISTS, or what ValidateContainerId and ValidateSettings say.
  void Create(std::string id, ContainerSettings settings, absl::Time now, Done<ContainerPtr> done);

  // Computes the new settings from the present container; may refuse.
  using Change = absl::AnyInvocable<absl::StatusOr<ContainerSettings>(const Container&)>;

  // NOT_FOUND, what `change` says, or what ValidateSettings says. A policy that
  // is replaced holds deletes back for `grace` (see due_rules.h); longer if the change
  // pulls the brake that the new settings have, by the items committed until then.
  void Update(std::string id, Change change, absl::Time now, absl::Duration grace,
              Done<ContainerPtr> done);

  // Confirms the change that pulled the brake, and the adopted items that wait: what they
  // made due is due from now on. Other holds stay, and so does the etag. NOT_FOUND; ABORTED
  // if `etag` is not empty and not the current one; FAILED_PRECONDITION if no brake is pulled
  // at `now` and no adopted item waits.
  void ConfirmPolicy(std::string id, std::string etag, absl::Time now, Done<ContainerPtr> done);

  // To be called before adopted items are deleted: pulls the brake if there are too many of
  // them. Answers whether it is pulled now, so that none may be deleted. NOT_FOUND.
  void PullBrakeIfTooManyAdopted(uint64_t number, absl::Time now, Done<bool> done);

  // NOT_FOUND; ABORTED if `etag` is not empty and not the current one.
  void Delete(std::string id, std::string etag, DoneStatus done);

  // Sets or, with nullopt, lifts the pause of one container. NOT_FOUND.
  void SetPause(std::string id, std::optional<Pause> pause, Done<ContainerPtr> done);

  // The pause of all containers.
  std::optional<Pause> PauseOfAll() const;
  void SetPauseOfAll(std::optional<Pause> pause, DoneStatus done);

 private:
  // Closes the gate of `container`, runs `change` on a commit thread when no
  // delete is on its way, opens the gate, then calls `done`.
  void ChangeBehindGate(uint64_t container, absl::AnyInvocable<absl::Status(Transaction&)> change,
                        DoneStatus done);

  Catalog& catalog_;
  CommitQueue& queue_;
  DeleteGate& gate_;
  const Tallies& tallies_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_CONTAINERS_H_
