#include "service/log/log.h"

#include <fcntl.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/log/library_logs.h"
#include "service/log/log_line.h"
#include "service/log/log_sink.h"
#include "service/log/log_writer.h"

namespace ttl {
namespace {

// Never destroyed, because threads may log until the process ends. Null: no log yet.
std::atomic<LogWriter*> the_writer = nullptr;
std::atomic<LogSink*> the_sink = nullptr;

// If the process was started without standard descriptors, a file that it opens would get such a
// number, and text for standard error would be written into it.
void OpenMissingStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
      const int opened = open("/dev/null", O_RDWR);
  }
}

// Waits until the writer's thread has written the lines that give the reason. Async-signal-safe.
void DrainBeforeAbort(int signal) {
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 10'000'000};
  const LogWriter* const writer = the_writer;
  for (int i = 0; i < 100 && writer->HasUnwritten(); ++i) nanosleep(&kPause, nullptr);
  raise(signal);  // takes the default action when this handler returns
}

void DrainOnAbort() {
  struct sigaction action = {};
  action.sa_handler = DrainBeforeAbort;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGABRT, &action, nullptr);
}

std::string LossLine(int64_t lines, absl::string_view reason) {
  const std::string fields =
      absl::StrCat("lines=", lines, " reason=\"", absl::CHexEscape(reason), "\"");
  return FormatLogLine(the_sink.load()->format(), spdlog::log_clock::now(), spdlog::level::warn,
                       {.name = "log lines lost", .fields = fields});
}

}  // namespace

Log::Log(spdlog::level::level_enum level, std::string before_line) {
  signal(SIGPIPE, SIG_IGN);
  OpenMissingStandardDescriptors();
  LogWriter* const writer =
      new LogWriter(STDERR_FILENO, [before_line](int64_t lines, absl::string_view reason) {
        return absl::StrCat(before_line, LossLine(lines, reason));
      });
  the_writer = writer;
  DrainOnAbort();
  auto sink = std::make_shared<LogSink>(
      [writer, before_line = std::move(before_line)](absl::string_view line) {
        writer->Write(before_line.empty() ? line : absl::StrCat(before_line, line));
      });
  // Never destroyed either: the writer asks it for the format.
  static std::shared_ptr<LogSink>& kept = *new std::shared_ptr<LogSink>;
  kept = sink;
  the_sink = sink.get();
  auto logger = std::make_shared<spdlog::logger>("log", std::move(sink));
  logger->set_level(level);
  spdlog::set_default_logger(std::move(logger));
  CatchLibraryLogs();
}

Log::~Log() { Drain(); }

void Log::SetFormat(LogFormat format) {
  if (LogSink* const sink = the_sink; sink != nullptr) sink->set_format(format);
}

void Log::Drain() {
  if (LogWriter* const writer = the_writer; writer != nullptr) writer->Drain(kMaxLogDrain);
}

int64_t Log::LostLines() {
  const LogWriter* const writer = the_writer;
  return writer == nullptr ? 0 : writer->lost_lines();
}

}  // namespace ttl
