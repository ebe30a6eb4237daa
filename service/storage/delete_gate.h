#ifndef TTL_SERVICE_STORAGE_DELETE_GATE_H_
#define TTL_SERVICE_STORAGE_DELETE_GATE_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "service/base/mutex.h"

namespace ttl {

// Orders deletes in flight to the primary store against changes of policy. The sweeper enters
// before it reads the policy, and leaves when the outcome of the deletes is known, or can no longer
// change because their not_after has passed. A change first closes the gate and continues when the
// last pass is given back. So whatever was judged inside the gate was judged by the policy in
// force. A change that needs no more than that all deletes judged before it have ended leaves the
// gate open and awaits the passes that are out. Thread-safe.
class DeleteGate {
 public:
  // Permission to have deletes of one container in flight; given back when destroyed. Must not
  // outlive the gate.
  class Pass {
   public:
    Pass(Pass&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)),
          container_(other.container_),
          ticket_(other.ticket_) {}
    Pass& operator=(Pass&& other) noexcept {
      std::swap(gate_, other.gate_);
      std::swap(container_, other.container_);
      std::swap(ticket_, other.ticket_);
      return *this;
    }
    ~Pass() {
      if (gate_ != nullptr) gate_->Leave(container_, ticket_);
    }

   private:
    friend class DeleteGate;
    Pass(DeleteGate* gate, uint64_t container, uint64_t ticket)
        : gate_(gate), container_(container), ticket_(ticket) {}
    DeleteGate* gate_;
    uint64_t container_;
    uint64_t ticket_;
  };

  // Means all containers, including those created later.
  static constexpr uint64_t kAllContainers = 0;

  // Absent while the gate of `container` (a container number), or of all containers, is closed.
  std::optional<Pass> TryEnter(uint64_t container);

  bool IsClosed(uint64_t container) const;

  // Closes the gate, then runs `drained` once no pass is out: at once on this thread, or later on
  // the thread that gives the last pass back. Each Close() needs its Open().
  void Close(uint64_t container, absl::AnyInvocable<void()> drained);
  void Open(uint64_t container);

  // Runs `done` once all passes of `container` that are out now have been given back, those for all
  // containers included (of all containers: every pass); later ones do not count. On the same
  // threads as Close().
  void AwaitPresent(uint64_t container, absl::AnyInvocable<void()> done);

 private:
  // Waits until no pass with a lower ticket is out.
  struct Waiter {
    uint64_t container;
    uint64_t before;
    absl::AnyInvocable<void()> drained;
  };

  void Await(Waiter waiter);
  void Leave(uint64_t container, uint64_t ticket);
  bool IsDrained(const Waiter& waiter) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasBefore(uint64_t container, uint64_t ticket) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<Waiter> TakeDrained() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, int> closings_ ABSL_GUARDED_BY(mutex_);
  // The tickets of the passes that are out, which grow.
  absl::flat_hash_map<uint64_t, absl::btree_set<uint64_t>> passes_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_ticket_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_STORAGE_DELETE_GATE_H_
