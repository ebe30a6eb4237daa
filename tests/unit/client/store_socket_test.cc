#include "ttl/store_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using testing::HasSubstr;

// A socket on which somebody listens, as a server that knows no locks leaves it.
int ListenAt(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(listen(fd, 1), 0);
  return fd;
}

std::string RefusalOf(const std::string& address) {
  const auto claimed = StoreSocket::Claim(address);
  EXPECT_EQ(claimed.status().code(), absl::StatusCode::kFailedPrecondition) << claimed.status();
  return std::string(claimed.status().message());
}

class StoreSocketTest : public testing::Test {
 protected:
  const TempDir dir_;
  const std::string path_ = dir_.File("store.sock");
  const std::string address_ = absl::StrCat("unix:", path_);
};

TEST_F(StoreSocketTest, OneAtATimeHoldsThePath) {
  {
    const auto first = StoreSocket::Claim(address_);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_THAT(RefusalOf(address_), HasSubstr("another process holds"));
    EXPECT_THAT(RefusalOf(absl::StrCat("unix://", path_)), HasSubstr("another process holds"));
  }
  EXPECT_TRUE(StoreSocket::Claim(address_).ok());
}

TEST_F(StoreSocketTest, WhatAServerAnswersOnIsNotTaken) {
  const int listener = ListenAt(path_);
  EXPECT_THAT(RefusalOf(address_), HasSubstr("a server answers on it"));
  close(listener);  // the file stays, and nobody answers
  EXPECT_EQ(access(path_.c_str(), F_OK), 0);
  EXPECT_TRUE(StoreSocket::Claim(address_).ok());
}

TEST_F(StoreSocketTest, TheLockEndsWithItsProcess) {
  const pid_t holder = fork();
  if (holder == 0) {
    const auto held = StoreSocket::Claim(address_);
    kill(getpid(), SIGKILL);
  }
  ASSERT_EQ(waitpid(holder, nullptr, 0), holder);
  EXPECT_EQ(access(absl::StrCat(path_, ".lock").c_str(), F_OK), 0);
  EXPECT_TRUE(StoreSocket::Claim(address_).ok());
}

TEST_F(StoreSocketTest, WhatIsNoSocketIsLeftAlone) {
  std::ofstream(path_) << "precious";
  EXPECT_THAT(RefusalOf(address_), HasSubstr("not a socket"));
  std::string content;
  std::ifstream(path_) >> content;
  EXPECT_EQ(content, "precious");
}

TEST_F(StoreSocketTest, OtherAddressesAreFree) {
  const auto first = StoreSocket::Claim("127.0.0.1:0");
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(StoreSocket::Claim("127.0.0.1:0").ok());
}

}  // namespace
}  // namespace ttl
