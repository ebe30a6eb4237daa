#ifndef TTL_CLIENT_TTLCTL_TEXT_TERMINAL_H_
#define TTL_CLIENT_TTLCTL_TEXT_TERMINAL_H_

#include <iosfwd>

namespace ttl {

// The streams of a run. They must outlive it.
struct Terminal {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  // Whether a person watches err, so that progress may be drawn there.
  bool err_is_terminal = false;
  // Whether a person types what is read from in, and can be asked there.
  bool in_is_terminal = false;
};

}  // namespace ttl

#endif  // TTL_CLIENT_TTLCTL_TEXT_TERMINAL_H_
