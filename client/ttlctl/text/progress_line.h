#ifndef TTL_CLIENT_TTLCTL_TEXT_PROGRESS_LINE_H_
#define TTL_CLIENT_TTLCTL_TEXT_PROGRESS_LINE_H_

#include <ostream>
#include <string>

#include "client/ttlctl/text/terminal.h"

namespace ttl {

// A progress line on the error stream that is redrawn in place; nothing if that is not a terminal.
// Erased when destroyed.
class ProgressLine {
 public:
  explicit ProgressLine(const Terminal& terminal) : terminal_(terminal) {}
  ~ProgressLine() {
    if (drawn_) terminal_.err << "\r\033[K" << std::flush;
  }
  void Draw(const std::string& text) {
    if (!terminal_.err_is_terminal) return;
    drawn_ = true;
    terminal_.err << "\r\033[K" << text << std::flush;
  }

 private:
  const Terminal& terminal_;
  bool drawn_ = false;
};

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_PROGRESS_LINE_H_
