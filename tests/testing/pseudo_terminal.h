#ifndef TTL_TESTS_TESTING_PSEUDO_TERMINAL_H_
#define TTL_TESTS_TESTING_PSEUDO_TERMINAL_H_

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"

namespace ttl {

// A pseudo-terminal: a program started with `output_path` set to path() writes to a terminal, and
// this records all output. Never becomes a controlling terminal. Aborts if there is no
// pseudo-terminal. Thread-safe.
class PseudoTerminal {
 public:
  // A terminal with `columns` columns.
  explicit PseudoTerminal(int columns);
  ~PseudoTerminal();

  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  // Resizes the terminal.
  void Resize(int columns);

  const std::string& path() const { return path_; }

  // All output so far, including control characters, with \r\n at the end of lines.
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

// The lines that remain visible of `output`: of each line the part after its last erasure, without
// colours.
std::vector<std::string> ShownLines(absl::string_view output);

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_PSEUDO_TERMINAL_H_
