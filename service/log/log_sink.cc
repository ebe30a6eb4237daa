#include "service/log/log_sink.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "service/log/log_line.h"

namespace ttl {

void LogSink::sink_it_(const spdlog::details::log_msg& message) {
  LogEvent event = LogEvent::Parse({message.payload.data(), message.payload.size()});
  std::optional<int64_t> left_out = 0;
  if (message.level >= spdlog::level::info) {
    left_out = limiter_.Admit(absl::StrCat(message.level, "/", event.name),
                              absl::FromChrono(message.time.time_since_epoch()));
  }
  if (!left_out.has_value()) return;
  const std::string fields =
      *left_out == 0
          ? std::string(event.fields)
          : absl::StrCat(event.fields, event.fields.empty() ? "" : " ", "suppressed=", *left_out);
  event.fields = fields;
  write_(FormatLogLine(format_, message.time, message.level, event));
}

}  // namespace ttl
