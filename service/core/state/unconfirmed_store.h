#ifndef TTL_SERVICE_CORE_STATE_UNCONFIRMED_STORE_H_
#define TTL_SERVICE_CORE_STATE_UNCONFIRMED_STORE_H_

#include <string>

#include "service/core/state/published_sweep.h"
#include "service/core/state/store_trust.h"

namespace ttl {

// Why `store`, as the sweeper published it, must be confirmed; empty if it need not be. Takes into
// account that an operator may have confirmed it since.
inline std::string UnconfirmedReason(const StoreTrust& trust, const StoreView& store) {
  const std::string doubt = trust.doubt();
  if (doubt.empty() && trust.store_id() == store.store_id) return "";
  return store.unconfirmed.empty() ? doubt : store.unconfirmed;
}

}  // namespace ttl

#endif  // TTL_SERVICE_CORE_STATE_UNCONFIRMED_STORE_H_
