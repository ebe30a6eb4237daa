#ifndef TTL_SERVICE_CORE_STORE_TRUST_H_
#define TTL_SERVICE_CORE_STORE_TRUST_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "service/core/mutex.h"

namespace ttl {

// Whether the primary store connected now is the one that the tracked items belong
// to. While it is in doubt nothing is deleted. In memory: whoever changes it makes
// the change durable first. Thread-safe.
class StoreTrust {
 public:
  // What was kept: the identity of the store, absent before the first, and why it is
  // in doubt, empty if it is not.
  StoreTrust(std::optional<std::string> store_id, std::string doubt)
      : store_id_(std::move(store_id)), doubt_(std::move(doubt)) {}
  StoreTrust() : StoreTrust(std::nullopt, "") {}

  std::optional<std::string> store_id() const {
    MutexLock lock(mutex_);
    return store_id_;
  }

  // Why the store is in doubt; empty if it is not.
  std::string doubt() const {
    MutexLock lock(mutex_);
    return doubt_;
  }

  void Doubt(std::string reason) {
    MutexLock lock(mutex_);
    doubt_ = std::move(reason);
  }

  // The store of this identity is the right one: the first one ever, or an operator's
  // word.
  void Confirm(std::string store_id) {
    MutexLock lock(mutex_);
    store_id_ = std::move(store_id);
    doubt_.clear();
  }

 private:
  mutable Mutex mutex_;
  std::optional<std::string> store_id_ ABSL_GUARDED_BY(mutex_);
  std::string doubt_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_STORE_TRUST_H_
