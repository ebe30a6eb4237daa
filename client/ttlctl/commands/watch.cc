#include "client/ttlctl/commands/watch.h"

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "client/ttlctl/commands/command.h"
#include "client/ttlctl/input/duration_text.h"
#include "client/ttlctl/text/format.h"
#include "service/base/time_text.h"

namespace ttl {
namespace {

constexpr char kDefaultInterval[] = "2";
constexpr int64_t kMaxIntervalSeconds = 86400;

// One output of the command, and what it wrote to the error stream.
struct WatchFrame {
  ExitCode code;
  absl::StatusCode failure;
  std::string out;
  std::string err;
};

WatchFrame TakeFrame(Session& session, const std::function<ExitCode(Session&)>& show) {
  std::ostringstream out;
  std::ostringstream err;
  const Terminal terminal{session.terminal().in, out, err};
  Session inner(session, terminal);
  const ExitCode code = show(inner);
  return {code, inner.failure(), out.str(), err.str()};
}

// Whether the next call may succeed: the sidecar is away, or refuses calls that are too many now.
bool MayPass(const WatchFrame& frame) {
  return frame.code == ExitCode::kUnreachable ||
         frame.failure == absl::StatusCode::kResourceExhausted;
}

// The first lines of `text`, and how many more there are, so that a terminal of `rows` rows does
// not scroll. All of it if the number of rows is not known (0).
std::string CutToRows(const std::string& text, int rows) {
  const int64_t lines = std::count(text.begin(), text.end(), '\n');
  if (rows == 0 || lines < rows) return text;
  const int64_t kept = std::max(0, rows - 2);
  size_t end = 0;
  for (int64_t line = 0; line < kept; ++line) end = text.find('\n', end) + 1;
  return absl::StrCat(text.substr(0, end), "... ", lines - kept, " more lines\n");
}

// Redraws the text from the top left corner without clearing the screen first.
void Redraw(std::ostream& out, const std::string& text) {
  out << "\033[H" << absl::StrReplaceAll(text, {{"\n", "\033[K\n"}}) << "\033[J" << std::flush;
}

// What to write instead if --watch may have taken the argument that follows it for its interval.
std::string Instead(const CLI::App& command) {
  const std::vector<const CLI::Option*> options =
      command.get_options([](const CLI::Option* option) { return option->get_positional(); });
  if (options.empty()) return "";
  return absl::StrCat("; put ", options.front()->get_name(), " before --watch, or write --watch=2");
}

int64_t ParseInterval(const CLI::App& command, const std::string& text) {
  const absl::StatusOr<int64_t> seconds = SecondsFromText(text);
  if (seconds.ok()) return *seconds;
  if (absl::IsOutOfRange(seconds.status())) throw NumberTooLarge("--watch", text);
  RefuseValue("--watch", text, absl::StrCat(kDurationForms, Instead(command)),
              /*type=*/"");
}

class Watcher {
 public:
  Watcher(Session& session, absl::Duration interval)
      : out_(session.terminal().out),
        err_(session.terminal().err),
        interval_(interval),
        rows_(session.terminal().out_rows),
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
    const std::string text = absl::StrCat("Every ", FormatSpan(interval_), ", at ",
                                          TimeText(absl::Now()), "\n\n", last_out_, frame.err);
    Redraw(out_, CutToRows(text, rows_ ? rows_() : 0));
  }

  std::ostream& out_;
  std::ostream& err_;
  const absl::Duration interval_;
  const std::function<int()> rows_;
  const bool redraws_;
  const bool separates_;
  bool has_shown_ = false;
  std::string last_out_;
};

}  // namespace

void AddWatchOption(CLI::App& command, std::optional<absl::Duration>& interval) {
  AddParsedOption(command, "--watch",
                  "Repeat every INTERVAL until interrupted; INTERVAL in seconds or as 1m30s; "
                  "default: 2",
                  "INTERVAL",
                  [&command, &interval](const std::string& text) {
                    const int64_t seconds = ParseInterval(command, text);
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
    const bool goes_on = frame.code == ExitCode::kOk || (has_succeeded && MayPass(frame));
    if (!goes_on) return frame.code;
    if (watcher.is_lost()) return ExitCode::kOk;  // the caller says that output was lost
    absl::SleepFor(interval);
  }
}

}  // namespace ttl
