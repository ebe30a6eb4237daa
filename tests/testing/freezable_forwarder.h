#ifndef TTL_TESTS_TESTING_FREEZABLE_FORWARDER_H_
#define TTL_TESTS_TESTING_FREEZABLE_FORWARDER_H_

#include <atomic>
#include <string>
#include <thread>

#include "tests/testing/temp_dir.h"

namespace ttl {

// Passes the bytes of connections on to a Unix socket, until it is told to keep them: then nobody
// learns anything, as when a machine vanishes or a middle box forgets a connection. Thread-safe.
class FreezableForwarder {
 public:
  // `target`: gRPC address of a Unix socket, such as "unix:/run/store.sock".
  explicit FreezableForwarder(const std::string& target);
  ~FreezableForwarder();

  FreezableForwarder(const FreezableForwarder&) = delete;
  FreezableForwarder& operator=(const FreezableForwarder&) = delete;

  // gRPC address to reach it at.
  std::string address() const;

  // The connections that there are pass nothing any more, and stay open.
  void Freeze();

  // Whether new connections pass nothing either: they are accepted, and that is all.
  void SetDeaf(bool deaf) { deaf_ = deaf; }

  // Connections accepted so far.
  int accepted() const { return accepted_; }

 private:
  void Run();

  const TempDir directory_;
  const std::string target_path_;
  int listener_;
  int wake_[2];
  std::atomic<bool> deaf_ = false;
  std::atomic<int> accepted_ = 0;
  std::atomic<int> epoch_ = 0;  // connections of an earlier one are frozen
  std::atomic<bool> ended_ = false;
  std::thread thread_;  // last: uses all the others
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_FREEZABLE_FORWARDER_H_
