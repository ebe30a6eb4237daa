#ifndef TTL_SERVICE_EXPIRY_TROUBLE_LOG_H_
#define TTL_SERVICE_EXPIRY_TROUBLE_LOG_H_

#include <cstddef>
#include <string>

#include "absl/time/time.h"
#include "service/base/log_limiter.h"
#include "spdlog/common.h"

namespace ttl {

// Longer error texts are cut in log lines.
inline constexpr size_t kMaxErrorBytes = 1024;

// Logs recurring errors: at most one line of each kind per kInterval. The next line of that kind
// says how many were suppressed (`left_out=`). Not thread-safe.
class TroubleLog {
 public:
  static constexpr absl::Duration kInterval = absl::Seconds(10);

  // `line` is a message followed by fields (`key=value`); `steady` is the current time.
  void Log(spdlog::level::level_enum level, const std::string& kind, const std::string& line,
           absl::Duration steady);

 private:
  LogLimiter limiter_{kInterval};
};

}  // namespace ttl

#endif  // TTL_SERVICE_EXPIRY_TROUBLE_LOG_H_
