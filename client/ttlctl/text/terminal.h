#ifndef TTL_CLIENT_TTLCTL_TEXT_TERMINAL_H_
#define TTL_CLIENT_TTLCTL_TEXT_TERMINAL_H_

#include <functional>
#include <iosfwd>

namespace ttl {

// The standard streams of a run, which must outlive it.
struct Terminal {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  // Whether err is a terminal, so that progress may be drawn there.
  bool err_is_terminal = false;
  // Whether in is a terminal, so that the user can be asked.
  bool in_is_terminal = false;
  // Whether out is a terminal, so that it can be redrawn.
  bool out_is_terminal = false;
  // The rows of the terminal that out is, 0 if they are not known. Null if out is none.
  std::function<int()> out_rows = nullptr;
};

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_TERMINAL_H_
