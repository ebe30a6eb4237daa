#ifndef TTL_CLIENT_TTLCTL_TEXT_PROGRESS_LINE_H_
#define TTL_CLIENT_TTLCTL_TEXT_PROGRESS_LINE_H_

#include <ostream>
#include <string>

#include "client/ttlctl/text/terminal.h"

namespace ttl {

// A line of progress that is drawn over itself; none if nobody watches.
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
