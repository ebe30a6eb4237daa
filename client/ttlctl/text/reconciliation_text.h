#ifndef TTL_CLIENT_TTLCTL_TEXT_RECONCILIATION_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_RECONCILIATION_TEXT_H_

#include <string>

#include "ttl/v1/maintenance_service.pb.h"

namespace ttl {

// A progress bar over the containers, and the current position, in one line. Pure.
std::string ReconciliationProgress(const v1::Reconciliation& reconciliation);

// The result: counts, then samples. Pure.
std::string ReconciliationText(const v1::Reconciliation& reconciliation);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_RECONCILIATION_TEXT_H_
