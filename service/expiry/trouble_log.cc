#include "service/expiry/trouble_log.h"

#include <cstdint>
#include <optional>

#include "spdlog/spdlog.h"

namespace ttl {

void TroubleLog::Log(spdlog::level::level_enum level, const std::string& kind,
                     const std::string& line, absl::Duration steady) {
  const std::optional<int64_t> left_out = limiter_.Admit(kind, steady);
  if (!left_out.has_value()) return;
  if (*left_out == 0) {
    spdlog::log(level, "{}", line);
  } else {
    spdlog::log(level, "{} ({} similar lines left out)", line, *left_out);
  }
}

}  // namespace ttl
