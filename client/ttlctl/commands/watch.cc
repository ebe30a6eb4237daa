#include "client/ttlctl/commands/watch.h"

#include <ostream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "client/ttlctl/commands/command.h"
#include "client/ttlctl/text/format.h"
#include "service/base/time_text.h"

namespace ttl {
namespace {

constexpr char kDefaultInterval[] = "2";
constexpr int64_t kMaxIntervalSeconds = 86400;

// One output of the command, and what it wrote to the error stream.
struct WatchFrame {
  ExitCode code;
  std::string out;
  std::string err;
};

WatchFrame TakeFrame(Session& session, const std::function<ExitCode(Session&)>& show) {
  std::ostringstream out;
  std::ostringstream err;
  const Terminal terminal{session.terminal().in, out, err};
  Session inner(session, terminal);
  const ExitCode code = show(inner);
  return {code, out.str(), err.str()};
}

// Draws the text from the upper left corner over what is there, without a flicker between.
void Redraw(std::ostream& out, const std::string& text) {
  out << "\033[H" << absl::StrReplaceAll(text, {{"\n", "\033[K\n"}}) << "\033[J" << std::flush;
}

class Watcher {
 public:
  Watcher(Session& session, absl::Duration interval)
      : out_(session.terminal().out),
        err_(session.terminal().err),
        interval_(interval),
        redraws_(session.terminal().out_is_terminal && !session.structured()),
        separates_(!session.structured()) {}

  void Show(const WatchFrame& frame) {
    if (redraws_) {
      ShowAtTerminal(frame);
      return;
    }
    if (separates_ && has_shown_ && !frame.out.empty()) out_ << "\n";
    out_ << frame.out << std::flush;
    err_ << frame.err << std::flush;
    has_shown_ = true;
  }

  bool is_lost() const { return !out_; }

 private:
  // While the server cannot be reached, its last known state stays.
  void ShowAtTerminal(const WatchFrame& frame) {
    if (!has_shown_) out_ << "\033[2J";
    has_shown_ = true;
    if (!frame.out.empty()) last_out_ = frame.out;
    Redraw(out_, absl::StrCat("Every ", FormatSpan(interval_), ", at ", TimeText(absl::Now()),
                              "\n\n", last_out_, frame.err));
  }

  std::ostream& out_;
  std::ostream& err_;
  const absl::Duration interval_;
  const bool redraws_;
  const bool separates_;
  bool has_shown_ = false;
  std::string last_out_;
};

}  // namespace

void AddWatchOption(CLI::App& command, std::optional<absl::Duration>& interval) {
  AddParsedOption(command, "--watch",
                  "Show it again and again, until interrupted; INTERVAL in seconds or as 1m30s; "
                  "default: 2",
                  "INTERVAL",
                  [&interval](const std::string& text) {
                    const int64_t seconds = ParseDuration("--watch", text);
                    if (seconds < 1 || seconds > kMaxIntervalSeconds) {
                      throw CLI::ValidationError(
                          "--watch", absl::StrCat("\"", text, "\" must be from 1s to 1d"));
                    }
                    interval = absl::Seconds(seconds);
                  })
      ->expected(0, 1)
      ->default_str(kDefaultInterval);
}

ExitCode Watch(Session& session, absl::Duration interval,
               const std::function<ExitCode(Session&)>& show) {
  Watcher watcher(session, interval);
  bool has_succeeded = false;
  while (true) {
    const WatchFrame frame = TakeFrame(session, show);
    has_succeeded = has_succeeded || frame.code == ExitCode::kOk;
    watcher.Show(frame);
    const bool is_away = has_succeeded && frame.code == ExitCode::kUnreachable;
    if (frame.code != ExitCode::kOk && !is_away) return frame.code;
    if (watcher.is_lost()) return ExitCode::kOk;  // the caller says that output was lost
    absl::SleepFor(interval);
  }
}

}  // namespace ttl
