#include "service/log/log_sink.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "service/log/log_line.h"

namespace ttl {
namespace {

// More names than this are forgotten, at the price of a line too many.
constexpr size_t kMaxWindows = 1024;

}  // namespace

void LogSink::sink_it_(const spdlog::details::log_msg& message) {
  LogEvent event = LogEvent::Parse({message.payload.data(), message.payload.size()});
  const int64_t left_out = Admit(message.level, event.name, message.time);
  if (left_out < 0) return;
  const std::string fields =
      left_out == 0
          ? std::string(event.fields)
          : absl::StrCat(event.fields, event.fields.empty() ? "" : " ", "suppressed=", left_out);
  event.fields = fields;
  write_(FormatLogLine(message.time, message.level, event));
}

int64_t LogSink::Admit(spdlog::level::level_enum level, absl::string_view name,
                       spdlog::log_clock::time_point time) {
  if (level < spdlog::level::info) return 0;
  if (windows_.size() >= kMaxWindows) windows_.clear();
  const auto [it, is_new] =
      windows_.try_emplace({level, std::string(name)}, Window{.start = time, .seen = 0});
  Window& window = it->second;
  const bool is_within = time >= window.start && time - window.start < kWindow;
  if (is_within) return ++window.seen <= kBurst ? 0 : -1;
  const int64_t left_out = std::max<int64_t>(0, window.seen - kBurst);
  window = {.start = time, .seen = 1};
  return left_out;
}

}  // namespace ttl
