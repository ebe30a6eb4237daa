#ifndef TTL_CLIENT_TTLCTL_TEXT_CONTAINER_STATUS_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_CONTAINER_STATUS_TEXT_H_

#include <string>
#include <vector>

#include "client/ttlctl/text/table.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {

// Pure functions from statuses of containers to text for operators.

// Two tables of containers, the one with the oldest due item first: of what is due, then of
// their items and deletes. In a table, "1,234+" is a lower bound and "~1,234" is not exact.
std::string ContainerStatusesText(std::vector<v1::ContainerExpiryStatus> containers);

// The limit over all containers, and a table of what each may delete now.
std::string LimitsText(const v1::ListExpiryStatusesResponse& statuses);

// One container, a line per field.
std::string ContainerStatusText(const v1::ContainerExpiryStatus& status);

// What a pulled brake holds back, and how to release it.
std::string BrakePulledText(const std::string& container, const v1::BrakeStatus& brake);

// A table of stuck items; render it page by page.
Table StuckTable();
void AddStuckRow(const v1::StuckItem& item, Table& table);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_CONTAINER_STATUS_TEXT_H_
