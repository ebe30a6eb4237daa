#include "service/server/log.h"

#include <grpc/support/log.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"

namespace ttl {
namespace {

// More names than this are forgotten, at the price of a line too many.
constexpr size_t kMaxWindows = 1024;

// An event as its caller put it.
struct Event {
  absl::string_view name;
  absl::string_view fields;  // empty: all of it is the name
};

bool StartsWithKey(absl::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
  });
  return end != text.begin() && end != text.end() && *end == '=';
}

Event Split(absl::string_view payload) {
  const size_t colon = payload.find(": ");
  if (colon == absl::string_view::npos || !StartsWithKey(payload.substr(colon + 2))) {
    return {payload, {}};
  }
  return {payload.substr(0, colon), payload.substr(colon + 2)};
}

absl::string_view LevelName(spdlog::level::level_enum level) {
  const spdlog::string_view_t name = spdlog::level::to_string_view(level);
  return {name.data(), name.size()};
}

}  // namespace

void LogSink::sink_it_(const spdlog::details::log_msg& event) {
  const auto [name, fields] = Split({event.payload.data(), event.payload.size()});
  const int64_t left_out = Admit(event.level, name, event.time);
  if (left_out < 0) return;
  std::string line = absl::StrFormat(
      "ts=%s level=%s msg=\"%s\"",
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromChrono(event.time), absl::UTCTimeZone()),
      LevelName(event.level), absl::CHexEscape(name));
  if (!fields.empty()) absl::StrAppend(&line, " ", absl::StrReplaceAll(fields, {{"\n", "\\n"}}));
  if (left_out > 0) absl::StrAppend(&line, " suppressed=", left_out);
  line.push_back('\n');
  output_.write(line.data(), static_cast<std::streamsize>(line.size()));
}

void LogSink::flush_() { output_.flush(); }

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

namespace {

void LogGrpc(gpr_log_func_args* args) {
  const auto level =
      args->severity == GPR_LOG_SEVERITY_ERROR ? spdlog::level::warn : spdlog::level::debug;
  spdlog::log(level, "grpc: detail=\"{}\"", absl::CHexEscape(args->message));
}

}  // namespace

void StartLogging(spdlog::level::level_enum level) {
  const auto logger =
      std::make_shared<spdlog::logger>("ttl-sidecar", std::make_shared<LogSink>(std::cerr));
  logger->set_level(level);
  logger->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(logger);
  gpr_set_log_function(LogGrpc);
}

}  // namespace ttl
