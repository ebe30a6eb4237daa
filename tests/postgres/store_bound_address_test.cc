#include <gtest/gtest.h>

#include "client/postgres/store/bound_address.h"

namespace ttl::postgres {
namespace {

TEST(BoundAddressTest, PortZeroIsReplacedButNotInThePathOfASocket) {
  EXPECT_EQ(BoundAddress("localhost:0", 7071), "localhost:7071");
  EXPECT_EQ(BoundAddress("localhost:80", 80), "localhost:80");
  EXPECT_EQ(BoundAddress("unix:/run/store:0", 1), "unix:/run/store:0");
  EXPECT_EQ(BoundAddress("unix-abstract:store:0", 1), "unix-abstract:store:0");
  // Hosts whose names begin as the schemes of sockets do.
  EXPECT_EQ(BoundAddress("unixhost:0", 7071), "unixhost:7071");
  EXPECT_EQ(BoundAddress("unix-7.example.com:0", 7071), "unix-7.example.com:7071");
}

}  // namespace
}  // namespace ttl::postgres
