#ifndef TTL_CLIENT_TTLCTL_TEXT_RECONCILIATION_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_RECONCILIATION_TEXT_H_

#include <string>

#include "ttl/v1/maintenance_service.pb.h"

namespace ttl {

// One line for a terminal: a bar over the containers, and where it is.
std::string ReconciliationProgress(const v1::Reconciliation& reconciliation);

// What it came to: counts, then samples.
std::string ReconciliationText(const v1::Reconciliation& reconciliation);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_RECONCILIATION_TEXT_H_
