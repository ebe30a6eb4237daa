#ifndef TTL_CLIENT_TTLCTL_TEXT_FORECAST_BARS_H_
#define TTL_CLIENT_TTLCTL_TEXT_FORECAST_BARS_H_

#include <string>

#include "ttl/v1/expiry_service.pb.h"

namespace ttl {

// A forecast as lines of at most 80 columns of ASCII: for each step its end, its items and a bar,
// then the backlog and when it ends. A bar shows with '#' what the allowed rate can delete in its
// step and with '!' what is beyond that. Pure.
std::string ForecastBars(const v1::GetForecastResponse& forecast);

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_FORECAST_BARS_H_
