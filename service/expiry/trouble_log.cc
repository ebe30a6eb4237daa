#include "service/expiry/trouble_log.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace ttl {

void TroubleLog::Log(spdlog::level::level_enum level, const std::string& kind,
                     const std::string& line, absl::Duration steady) {
  const std::optional<int64_t> left_out = limiter_.Admit(kind, steady);
  if (!left_out.has_value()) return;
  spdlog::log(level, "{}{}", line, *left_out == 0 ? "" : absl::StrCat(" left_out=", *left_out));
}

}  // namespace ttl
