#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/synchronization/mutex.h"

// Debian's abseil checks the lock order of every gRPC mutex and may abort on a
// false alarm, so every main switches that off first.
int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
