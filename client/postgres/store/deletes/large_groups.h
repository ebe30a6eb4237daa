#ifndef TTL_CLIENT_POSTGRES_STORE_DELETES_LARGE_GROUPS_H_
#define TTL_CLIENT_POSTGRES_STORE_DELETES_LARGE_GROUPS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "service/base/mutex.h"

namespace ttl::postgres {

// LargeGroups remembers between calls which groups of a container took longer than
// statement_timeout although they were alone in their transaction. One such delete may be due to a
// stall of the database, so a group is condemned after two. Bounded: with too many groups it
// forgets all, and each is tried again. Thread-safe.
class LargeGroups {
 public:
  using Key = std::vector<std::string>;

  static constexpr size_t kMaxGroups = 1000;
  // Deletes that take too long before a group is condemned.
  static constexpr int kTries = 2;

  // Records a delete that took too long.
  void Overran(const Key& key);
  // The group was deleted, condemned, or need not be deleted.
  void Forget(const Key& key);
  // The recorded deletes of the group.
  int Tries(const Key& key) const;

 private:
  mutable Mutex mutex_;
  std::map<Key, int> tries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_STORE_DELETES_LARGE_GROUPS_H_
