#ifndef TTL_TESTS_TESTING_FREEZABLE_FORWARDER_H_
#define TTL_TESTS_TESTING_FREEZABLE_FORWARDER_H_

#include <atomic>
#include <string>
#include <thread>

#include "tests/testing/temp_dir.h"

namespace ttl {

// Forwards connections to a Unix socket until it is frozen: then no side learns anything, as when a
// machine vanishes or a middlebox drops a connection silently. Thread-safe.
class FreezableForwarder {
 public:
  // `target`: gRPC address of a Unix socket, such as "unix:/run/store.sock".
  explicit FreezableForwarder(const std::string& target);
  ~FreezableForwarder();

  FreezableForwarder(const FreezableForwarder&) = delete;
  FreezableForwarder& operator=(const FreezableForwarder&) = delete;

  // The gRPC address of the forwarder.
  std::string address() const;

  // Freezes the present connections: they stay open, but forward nothing.
  void Freeze();

  // Sets whether new connections are frozen, too: they are accepted, but forward nothing.
  void SetDeaf(bool deaf) { deaf_ = deaf; }

  // The number of connections accepted so far.
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
