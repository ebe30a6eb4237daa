#ifndef TTL_SERVICE_CORE_UNCONFIRMED_STORE_H_
#define TTL_SERVICE_CORE_UNCONFIRMED_STORE_H_

#include <string>

#include "service/core/state/store_trust.h"
#include "service/core/state/sweep_board.h"

namespace ttl {

// Why `store`, as the sweeper has posted it, has to be confirmed; empty if it has not.
// Fresher than what was posted: an operator may just have confirmed it.
inline std::string UnconfirmedReason(const StoreTrust& trust, const StoreView& store) {
  const std::string doubt = trust.doubt();
  if (doubt.empty() && trust.store_id() == store.store_id) return "";
  return store.unconfirmed.empty() ? doubt : store.unconfirmed;
}

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_UNCONFIRMED_STORE_H_
