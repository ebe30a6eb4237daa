#include "service/transport/calls/call_worker.h"

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/reason_matcher.h"

namespace ttl {
namespace {

TEST(CallWorkerTest, WhatIsBeyondTheBoundIsRefusedWithAReason) {
  absl::Notification begun;
  absl::Notification may_end;
  CallWorker worker;
  ASSERT_TRUE(worker
                  .Run([&] {
                    begun.Notify();
                    may_end.WaitForNotification();
                  })
                  .ok());
  begun.WaitForNotification();
  for (size_t i = 0; i < CallWorker::kMaxWaiting; ++i) ASSERT_TRUE(worker.Run([] {}).ok());
  EXPECT_THAT(worker.Run([] {}), HasReason(Reason::kTooManyCalls));
  may_end.Notify();
}

}  // namespace
}  // namespace ttl
