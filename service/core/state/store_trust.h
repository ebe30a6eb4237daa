#ifndef TTL_SERVICE_CORE_STATE_STORE_TRUST_H_
#define TTL_SERVICE_CORE_STATE_STORE_TRUST_H_

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "service/base/mutex.h"

namespace ttl {

// Whether the connected primary store is the one that the tracked items belong to. While it must be
// confirmed, nothing is deleted, and tracked data says nothing about its items. In memory; Levers
// makes each change durable. Thread-safe; is_unconfirmed() takes no lock.
class StoreTrust {
 public:
  // The stored state: the identity of the store, absent before the first; why it is in doubt, empty
  // if it is not; and the identity of the store that answered last, if it is another one.
  StoreTrust(std::optional<std::string> store_id, std::string doubt,
             std::optional<std::string> other_store_id = std::nullopt)
      : store_id_(std::move(store_id)), met_(std::move(other_store_id)), doubt_(std::move(doubt)) {
    const MutexLock lock(mutex_);
    Judge();
  }
  StoreTrust() : StoreTrust(std::nullopt, "") {}

  std::optional<std::string> store_id() const {
    MutexLock lock(mutex_);
    return store_id_;
  }

  // Why the store is in doubt, apart from its identity; empty if it is not.
  std::string doubt() const {
    MutexLock lock(mutex_);
    return doubt_;
  }

  // Identity of the store that answered last; absent if none has answered since the start and the
  // last one before was the right one.
  std::optional<std::string> met() const {
    MutexLock lock(mutex_);
    return met_;
  }

  // Whether the store must be confirmed: it is in doubt, or the one that answered last has another
  // identity.
  bool is_unconfirmed() const { return is_unconfirmed_.load(std::memory_order_acquire); }

  void Doubt(std::string reason) {
    MutexLock lock(mutex_);
    doubt_ = std::move(reason);
    Judge();
  }

  // The connected store answered with this identity.
  void Meet(std::string store_id) {
    MutexLock lock(mutex_);
    met_ = std::move(store_id);
    Judge();
  }

  // The store with this identity is the right one: it is the first one ever, or an operator said
  // so.
  void Confirm(std::string store_id) {
    MutexLock lock(mutex_);
    store_id_ = std::move(store_id);
    doubt_.clear();
    Judge();
  }

 private:
  void Judge() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const bool is_other = store_id_.has_value() && met_.has_value() && store_id_ != met_;
    is_unconfirmed_.store(is_other || !doubt_.empty(), std::memory_order_release);
  }

  std::atomic<bool> is_unconfirmed_ = false;
  mutable Mutex mutex_;
  std::optional<std::string> store_id_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::string> met_ ABSL_GUARDED_BY(mutex_);
  std::string doubt_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_STATE_STORE_TRUST_H_
