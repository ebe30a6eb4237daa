#ifndef TTL_TESTS_TESTING_PSEUDO_TERMINAL_H_
#define TTL_TESTS_TESTING_PSEUDO_TERMINAL_H_

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"

namespace ttl {

// A terminal's window for a program: what is started with `output_path` at path() writes to a
// terminal, and this keeps it, however much that is. Never the controlling terminal of anybody.
// Aborts if there can be none. Thread-safe.
class PseudoTerminal {
 public:
  // Of so many columns.
  explicit PseudoTerminal(int columns);
  ~PseudoTerminal();

  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  // The window is made wider or narrower.
  void Resize(int columns);

  const std::string& path() const { return path_; }

  // All that was written so far: control characters too, and \r\n at the end of a line.
  std::string Output() const;

 private:
  void Read();

  const int master_;
  const std::string path_;
  const int slave_;  // held open, so that the end of a program is not that of the terminal
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;
  std::string output_;  // guarded by mutex_
  std::thread reader_;  // last: uses all the others
};

// The lines that are left on the screen of what was written: of each what comes after its last
// erasure, without colours.
std::vector<std::string> ShownLines(absl::string_view output);

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_PSEUDO_TERMINAL_H_
