#ifndef TTL_CLIENT_TTLCTL_TEXT_COUNT_TEXT_H_
#define TTL_CLIENT_TTLCTL_TEXT_COUNT_TEXT_H_

#include <cstdint>
#include <string>

#include "google/protobuf/repeated_field.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {

// Human-readable text of counts. Pure functions.

// "5/s", or "no limit".
std::string LimitText(bool limited, double per_second);

// "1,234", or "about 1,234" if the count is not exact.
std::string AboutText(int64_t items, int64_t error_bound_items);

// "5 live, 3 expired", with notes if counts are not exact or not complete yet.
std::string ItemsText(const v1::ItemCounts& items);

// "5 within the hour, 80 within 24 hours".
std::string ForecastText(const google::protobuf::RepeatedField<int64_t>& expiring_per_hour);

// "7 deletes: half within 1s, 99 % within 30s, 2.5s on average". "-" if there are none.
std::string LatenessText(const v1::LatenessHistogram& histogram);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_COUNT_TEXT_H_
