#include "service/storage/engine/lock_owner.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "service/storage/storage.h"
#include "service/storage/upkeep/recovery.h"
#include "tests/testing/temp_dir.h"

namespace ttl {
namespace {

using ::testing::HasSubstr;

// Another process that has locked a file as LevelDB does, for as long as this lives.
class Locker {
 public:
  explicit Locker(const std::string& path) {
    int ends[2];
    if (pipe(ends) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      struct flock lock = {};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
      const char locked = fcntl(file, F_SETLK, &lock) == 0 ? 'y' : 'n';
      if (write(ends[1], &locked, 1) == 1) pause();
      _exit(0);
    }
    close(ends[1]);
    char locked = 'n';
    is_locked_ = read(ends[0], &locked, 1) == 1 && locked == 'y';
    close(ends[0]);
  }
  ~Locker() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  bool is_locked() const { return is_locked_; }

 private:
  pid_t pid_ = -1;
  bool is_locked_ = false;
};

TEST(LockOwnerTest, NobodyHasLockedAFreeOrMissingFile) {
  const TempDir temp;
  EXPECT_FALSE(LockOwner(temp.File("missing")).has_value());
  const int file = open(temp.File("free").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(file, 0);
  close(file);
  EXPECT_FALSE(LockOwner(temp.File("free")).has_value());
}

TEST(LockOwnerTest, WhoHasTheDatabaseOpenIsNamed) {
  const TempDir temp;
  StorageOptions options;
  options.directory = temp.File("data");
  ASSERT_TRUE(Storage::Open(options).ok());
  const Locker other(temp.File("data/LOCK"));
  ASSERT_TRUE(other.is_locked());
  const std::string named = absl::StrCat("another process has it open: pid ", other.pid());
  const absl::Status opened = Storage::Open(options).status();
  EXPECT_EQ(opened.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.message()), HasSubstr(named));
  options.directory = temp.File("copy");
  const absl::Status repaired =
      RepairCopy(temp.File("data"), options, absl::FromUnixSeconds(1'800'000'000)).status();
  EXPECT_EQ(repaired.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(repaired.message()), HasSubstr(named));
}

}  // namespace
}  // namespace ttl
