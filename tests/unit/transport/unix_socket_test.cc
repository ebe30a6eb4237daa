#include "service/transport/connections/unix_socket.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A listening socket; closing it leaves the file behind, as a killed server does.
class Listener {
 public:
  explicit Listener(const std::string& path, int type = SOCK_STREAM)
      : fd_(socket(AF_UNIX, type | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, path.data(), path.size());
    if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      status_ = absl::ErrnoToStatus(errno, "bind");
    } else if (type == SOCK_STREAM && listen(fd_, 1) != 0) {
      status_ = absl::ErrnoToStatus(errno, "listen");
    }
  }
  ~Listener() { close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const absl::Status& status() const { return status_; }

 private:
  const int fd_;
  absl::Status status_;
};

// Sets the umask for the time of a scope.
class ScopedUmask {
 public:
  explicit ScopedUmask(mode_t mask) : previous_(umask(mask)) {}
  ~ScopedUmask() { umask(previous_); }
  ScopedUmask(const ScopedUmask&) = delete;
  ScopedUmask& operator=(const ScopedUmask&) = delete;

 private:
  const mode_t previous_;
};

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  lstat(path.c_str(), &info);
  return info.st_mode & 07777;
}

// Field report B100.
TEST(UnixSocketTest, ModeIsAsSetUnderAnyUmask) {
  for (const mode_t mask : {0000, 0022, 0077, 0177}) {
    for (const mode_t mode : {0600, 0660, 0666, 0777}) {
      const TempDir dir;
      const std::string path = dir.File("s.sock");
      const ScopedUmask scoped(mask);
      const auto socket = UnixSocket::Claim({.path = path, .mode = mode, .group = ""});
      ASSERT_TRUE(socket.ok()) << socket.status();
      std::optional<Listener> listener;
      mode_t mode_while_binding = 0;
      const absl::Status bound = (*socket)->Bind([&] {
        listener.emplace(path);
        mode_while_binding = ModeOf(path);
        return listener->status();
      });
      ASSERT_TRUE(bound.ok()) << bound;
      EXPECT_EQ(mode_while_binding & 0077, mode_t{0}) << "a window in which others may connect";
      EXPECT_EQ(ModeOf(path), mode);
      EXPECT_EQ(umask(mask), mask) << "the umask is not restored";
    }
  }
}

// Field report B100.
TEST(UnixSocketTest, GroupIsSet) {
  const TempDir dir;
  const std::string path = dir.File("s.sock");
  const std::string group = absl::StrCat(getegid());
  const auto socket = UnixSocket::Claim({.path = path, .mode = 0660, .group = group});
  ASSERT_TRUE(socket.ok()) << socket.status();
  std::optional<Listener> listener;
  ASSERT_TRUE((*socket)->Bind([&] { return listener.emplace(path).status(); }).ok());
  struct stat info = {};
  ASSERT_EQ(lstat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_gid, getegid());
}

TEST(UnixSocketTest, UnknownGroupIsNamed) {
  const TempDir dir;
  const auto socket =
      UnixSocket::Claim({.path = dir.File("s.sock"), .mode = 0660, .group = "no-such-group"});
  EXPECT_EQ(socket.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(socket.status().message()),
              AllOf(HasSubstr("--socket-group"), HasSubstr("no-such-group")));
}

// Field report B101.
TEST(UnixSocketTest, SocketOfADeadServerIsRemoved) {
  const TempDir dir;
  const std::string path = dir.File("s.sock");
  { const Listener dead(path); }
  ASSERT_TRUE(std::filesystem::exists(path));
  const auto socket = UnixSocket::Claim({.path = path});
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_FALSE(std::filesystem::exists(path));
}

// Field report B101.
TEST(UnixSocketTest, SocketOfALiveServerIsNotRemoved) {
  for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
    const TempDir dir;
    const std::string path = dir.File("s.sock");
    const Listener live(path, type);
    ASSERT_TRUE(live.status().ok()) << live.status();
    const auto socket = UnixSocket::Claim({.path = path});
    EXPECT_FALSE(socket.ok());
    EXPECT_THAT(std::string(socket.status().message()),
                AllOf(HasSubstr(path), HasSubstr("in use")));
    EXPECT_TRUE(std::filesystem::is_socket(path));
  }
}

TEST(UnixSocketTest, LiveServerWithAFullQueueIsLeftAlone) {
  const TempDir dir;
  const std::string path = dir.File("s.sock");
  const Listener live(path);
  ASSERT_TRUE(live.status().ok()) << live.status();
  // Nobody accepts: each refused claim leaves one more connection in the queue.
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(UnixSocket::Claim({.path = path}).ok()) << i;
  EXPECT_TRUE(std::filesystem::is_socket(path));
}

// Field report B101.
TEST(UnixSocketTest, AFileThatIsNotASocketIsNotRemoved) {
  const TempDir dir;
  const std::string file = dir.File("file");
  std::ofstream(file) << "precious";
  const std::string directory = dir.File("directory");
  std::filesystem::create_directory(directory);
  const std::string dead_socket = dir.File("dead.sock");
  { const Listener dead(dead_socket); }
  for (const std::string& target : {file, directory, dead_socket, dir.File("nothing")}) {
    std::filesystem::create_symlink(target, target + ".link");
  }
  for (const std::string& path : {file, directory, file + ".link", directory + ".link",
                                  dead_socket + ".link", dir.File("nothing.link")}) {
    const auto status_before = std::filesystem::symlink_status(path);
    const auto socket = UnixSocket::Claim({.path = path});
    EXPECT_EQ(socket.status().code(), absl::StatusCode::kFailedPrecondition) << path;
    EXPECT_THAT(std::string(socket.status().message()), HasSubstr(path));
    EXPECT_EQ(std::filesystem::symlink_status(path), status_before) << path;
  }
  EXPECT_EQ(std::filesystem::file_size(file), 8u);
  EXPECT_TRUE(std::filesystem::is_socket(dead_socket));
}

TEST(UnixSocketTest, PathIsHeldByOneAtATime) {
  const TempDir dir;
  const std::string path = dir.File("s.sock");
  auto first = UnixSocket::Claim({.path = path});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = UnixSocket::Claim({.path = path});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("s.sock.lock"));
  first->reset();
  EXPECT_TRUE(UnixSocket::Claim({.path = path}).ok());
}

TEST(UnixSocketTest, LockFileIsRemovedWithIt) {
  const TempDir dir;
  { ASSERT_TRUE(UnixSocket::Claim({.path = dir.File("s.sock")}).ok()); }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  std::filesystem::create_directory(dir.File("in_the_way"));
  EXPECT_FALSE(UnixSocket::Claim({.path = dir.File("in_the_way")}).ok());
  EXPECT_FALSE(std::filesystem::exists(dir.File("in_the_way.lock")));
}

TEST(UnixSocketTest, PathIsHeldByOneAtATimeThoughLockFilesComeAndGo) {
  const TempDir dir;
  std::atomic<int> holders = 0;
  std::atomic<int> claims = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 500; ++j) {
        const auto socket = UnixSocket::Claim({.path = dir.File("s.sock")});
        if (!socket.ok()) continue;
        ++claims;
        EXPECT_EQ(++holders, 1);
        --holders;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(claims, 0);
}

TEST(UnixSocketTest, LockThatIsASymbolicLinkIsNotFollowed) {
  const TempDir dir;
  const std::string path = dir.File("s.sock");
  std::filesystem::create_symlink(dir.File("elsewhere"), path + ".lock");
  EXPECT_FALSE(UnixSocket::Claim({.path = path}).ok());
  EXPECT_FALSE(std::filesystem::exists(dir.File("elsewhere")));
}

TEST(UnixSocketTest, MissingDirectoryIsNamedAndNotMade) {
  const TempDir dir;
  const auto socket = UnixSocket::Claim({.path = dir.File("missing/s.sock")});
  EXPECT_EQ(socket.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(socket.status().message()), HasSubstr(dir.File("missing")));
  EXPECT_FALSE(std::filesystem::exists(dir.File("missing")));
}

TEST(UnixSocketTest, LongestPathWorksAndOneMoreByteIsRefused) {
  const TempDir dir;
  const std::string longest =
      dir.File(std::string(kMaxSocketPathBytes - dir.path().size() - 1, 'x'));
  ASSERT_EQ(longest.size(), kMaxSocketPathBytes);
  EXPECT_TRUE(UnixSocket::Claim({.path = longest}).ok());
  const auto too_long = UnixSocket::Claim({.path = longest + "x"});
  EXPECT_EQ(too_long.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(too_long.status().message()), HasSubstr("107 bytes"));
}

TEST(UnixSocketTest, FailureToBindIsReturned) {
  const TempDir dir;
  const auto socket = UnixSocket::Claim({.path = dir.File("s.sock")});
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_EQ((*socket)->Bind([] { return absl::InternalError("no"); }), absl::InternalError("no"));
}

}  // namespace
}  // namespace ttl
