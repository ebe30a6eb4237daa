#ifndef TTL_SERVICE_EXPIRY_TROUBLE_LOG_H_
#define TTL_SERVICE_EXPIRY_TROUBLE_LOG_H_

#include <cstddef>
#include <string>

#include "absl/time/time.h"
#include "service/base/log_limiter.h"
#include "spdlog/common.h"

namespace ttl {

// Longest text of an error in a log line.
inline constexpr size_t kMaxErrorBytes = 1024;

// Logs what goes wrong again and again: of each kind of trouble one line per interval, with how
// many were left out before it (`left_out=`). Lines are events with fields. Not thread-safe.
class TroubleLog {
 public:
  static constexpr absl::Duration kInterval = absl::Seconds(10);

  void Log(spdlog::level::level_enum level, const std::string& kind, const std::string& line,
           absl::Duration steady);

 private:
  LogLimiter limiter_{kInterval};
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_TROUBLE_LOG_H_
