#ifndef TTL_TESTS_TESTING_EXPECT_SOON_H_
#define TTL_TESTS_TESTING_EXPECT_SOON_H_

#include <gmock/gmock.h>

#include "tests/testing/wait.h"

namespace ttl {

// Reads a value until it matches or WaitUntil() gives up. Returns the last value read.
template <typename Read, typename Matcher>
auto ReadUntilItMatches(Read read, const Matcher& matcher) {
  WaitUntil([&] { return testing::Value(read(), matcher); });
  return read();
}

}  // namespace ttl

// EXPECT_THAT for a state that another process or thread will reach soon, such as a line in a log,
// which is written by a thread of its own.
#define EXPECT_SOON(value, matcher) \
  EXPECT_THAT(ttl::ReadUntilItMatches([&] { return (value); }, matcher), matcher)

#endif  // TTL_TESTS_TESTING_EXPECT_SOON_H_
