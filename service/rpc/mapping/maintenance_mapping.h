#ifndef TTL_SERVICE_RPC_MAPPING_MAINTENANCE_MAPPING_H_
#define TTL_SERVICE_RPC_MAPPING_MAINTENANCE_MAPPING_H_

#include "service/core/state/reconciliation.h"
#include "ttl/v1/maintenance_service.pb.h"

// Conversion of reconciliations to the API. Pure.
namespace ttl {

v1::Reconciliation ToProto(const Reconciliation& reconciliation);

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_MAPPING_MAINTENANCE_MAPPING_H_
