#ifndef TTL_TESTS_TESTING_LOG_ENDS_H_
#define TTL_TESTS_TESTING_LOG_ENDS_H_

#include <string>

namespace ttl {

// A pipe or a pair of sockets: what a program gets for its standard error, and where a test may
// read what it wrote, or not. The pipe takes 4 KiB, the sockets little more. Closes both ends on
// destruction.
class LogEnds {
 public:
  enum class Kind { kPipe, kSockets };

  explicit LogEnds(Kind kind);
  ~LogEnds();
  LogEnds(const LogEnds&) = delete;
  LogEnds& operator=(const LogEnds&) = delete;

  // The end that is written to: inherited with its flags, as standard error is.
  int write_end() const { return write_end_; }
  int read_end() const { return read_end_; }

  // Writes until there is no room left, without a change of the flags of write_end().
  void Fill();

  // All that can be read now.
  std::string Read();

 private:
  int write_end_ = -1;
  int fill_end_ = -1;  // of the pipe, with flags of its own; -1: none
  int read_end_ = -1;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_LOG_ENDS_H_
