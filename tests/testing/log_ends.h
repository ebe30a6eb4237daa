#ifndef TTL_TESTS_TESTING_LOG_ENDS_H_
#define TTL_TESTS_TESTING_LOG_ENDS_H_

#include <string>

namespace ttl {

// A pipe or a socket pair: a program gets one end as standard error, and the test may read the
// other, or not. The pipe holds 4 KiB, the sockets little more. Closes both ends on destruction.
class LogEnds {
 public:
  enum class Kind { kPipe, kSockets };

  explicit LogEnds(Kind kind);
  ~LogEnds();
  LogEnds(const LogEnds&) = delete;
  LogEnds& operator=(const LogEnds&) = delete;

  // The end for writing, inherited with its flags like standard error.
  int write_end() const { return write_end_; }
  int read_end() const { return read_end_; }

  // Writes until there is no room left, without changing the flags of write_end().
  void Fill();

  // Reads everything available.
  std::string Read();

 private:
  int write_end_ = -1;
  int fill_end_ = -1;  // of the pipe, with flags of its own; -1: none
  int read_end_ = -1;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_LOG_ENDS_H_
