#ifndef TTL_TESTS_INTEGRATION_BYSTANDER_H_
#define TTL_TESTS_INTEGRATION_BYSTANDER_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "tests/integration/sidecar_calls.h"

namespace ttl {

// Memory of a process that no file stands behind, in bytes; -1 if it has ended.
int64_t AnonymousMemory(pid_t pid);

// An honest client of a sidecar beside whatever else goes on: checks one live and one
// expired item all the time, in a thread of its own, and watches the sidecar's memory.
class Bystander {
 public:
  // Makes its container and items. `pid` is the sidecar's.
  Bystander(std::string address, pid_t pid);
  ~Bystander();
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

  // Waits for `rounds` further rounds of answers. DEADLINE_EXCEEDED if they do not come;
  // otherwise the first wrong or failed answer since the start.
  absl::Status AwaitRounds(int64_t rounds);

  // The same answers, to a client that has just connected.
  absl::Status CheckAsNewcomer() const;

  // Most memory that was seen.
  int64_t most_memory() const { return most_memory_; }

 private:
  static absl::Status CheckBoth(SidecarCalls& calls);
  void Run();

  const std::string address_;
  const pid_t pid_;
  SidecarCalls calls_;
  std::atomic<int64_t> rounds_{0};
  std::atomic<int64_t> most_memory_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> failed_{false};
  absl::Status failure_;  // before failed_ is set
  std::thread thread_;
};

}  // namespace ttl

#endif  // TTL_TESTS_INTEGRATION_BYSTANDER_H_
