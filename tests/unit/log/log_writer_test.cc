#include "service/log/log_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/testing/log_ends.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

using testing::AnyOf;

constexpr absl::Duration kPatience = absl::Seconds(30);

std::string LossLine(int64_t lines, absl::string_view reason) {
  return absl::StrCat("lost ", lines, ": ", reason, "\n");
}

std::string Line(int i) { return absl::StrCat("line ", i, " ", std::string(80, '.'), "\n"); }

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// More lines than there is room for, numbered from 0.
constexpr int kTooMany = 20000;

constexpr char kTooSlow[] = "it is not read as fast as it is written";

// Expects all of them in `text`, in order, in front of `last`, with as many left out in places
// as the lines there say, for `reason`. Returns how many that is.
int64_t ExpectAllOrCounted(const std::string& text, const std::string& reason,
                           const std::string& last) {
  int next = 0;
  int64_t lost = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    int64_t here = 0;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words[0] == "lost" && absl::SimpleAtoi(words[1].substr(0, words[1].size() - 1), &here)) {
      // On a busy machine the first are lost before anything was tried.
      EXPECT_THAT(absl::StrCat(line, "\n"),
                  AnyOf(LossLine(here, reason), LossLine(here, kTooSlow)));
      next += static_cast<int>(here);
      lost += here;
    } else if (absl::StrCat(line, "\n") == last) {
      EXPECT_EQ(next, kTooMany);
      return lost;
    } else {
      EXPECT_EQ(absl::StrCat(line, "\n"), Line(next));
      ++next;
    }
    if (testing::Test::HasFailure()) break;
  }
  ADD_FAILURE() << "it ends after " << next;
  return lost;
}

// How standard error may be given to a process.
enum class Given { kPipe, kSockets, kPipeOfAnotherUser };

class LogWriterTest : public testing::TestWithParam<Given> {
 protected:
  LogWriterTest()
      : ends_(GetParam() == Given::kSockets ? LogEnds::Kind::kSockets : LogEnds::Kind::kPipe) {
    if (GetParam() != Given::kPipeOfAnotherUser) return;
    // Neither as its owner nor as root may the writer's thread, which is made with the user of
    // this one, open it once more.
    fchmod(ends_.write_end(), 0);
    setfsuid(65534);
  }
  ~LogWriterTest() override { setfsuid(geteuid()); }

  // Reads until `text` has come.
  bool Comes(absl::string_view text) {
    return WaitUntil(
        [&] {
          read_ += ends_.Read();
          return absl::StrContains(read_, text);
        },
        kPatience);
  }

  LogEnds ends_;
  std::string read_;
};

INSTANTIATE_TEST_SUITE_P(Given, LogWriterTest,
                         testing::Values(Given::kPipe, Given::kSockets, Given::kPipeOfAnotherUser));

TEST_P(LogWriterTest, WhatNobodyReadsIsLostAndCountedInItsPlace) {
  LogWriter writer(ends_.write_end(), LossLine);
  for (int i = 0; i < kTooMany; ++i) writer.Write(Line(i));
  EXPECT_FALSE(writer.Drain(absl::Milliseconds(50)));
  EXPECT_TRUE(writer.HasUnwritten());
  const int64_t lost = writer.lost_lines();
  ASSERT_GT(lost, 0);

  const auto drained = [&] {
    read_ += ends_.Read();
    return writer.Drain(absl::ZeroDuration());
  };
  ASSERT_TRUE(WaitUntil(drained, kPatience)) << read_.size();
  writer.Write("after\n");
  ASSERT_TRUE(Comes("after\n"));
  EXPECT_EQ(writer.lost_lines(), lost);
  EXPECT_EQ(ExpectAllOrCounted(read_, kTooSlow, "after\n"), lost);
}

TEST_P(LogWriterTest, FlagsOfTheDescriptorStayAsTheyWere) {
  LogWriter writer(ends_.write_end(), LossLine);
  writer.Write("a\n");
  ASSERT_TRUE(Comes("a\n"));
  EXPECT_EQ(fcntl(ends_.write_end(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_P(LogWriterTest, EndsThoughNobodyReads) {
  std::optional<LogWriter> writer(std::in_place, ends_.write_end(), LossLine);
  ends_.Fill();
  writer->Write("a\n");
  EXPECT_FALSE(writer->Drain(absl::Milliseconds(50)));
  writer.reset();
}

TEST_P(LogWriterTest, LineThatIsTooLongIsLostAlone) {
  LogWriter writer(ends_.write_end(), LossLine);
  writer.Write(std::string(LogWriter::kMaxQueuedBytes + 1, 'x') + "\n");
  ASSERT_TRUE(Comes("lost 1"));
  ASSERT_TRUE(writer.Drain(kPatience));
  writer.Write("a\n");
  EXPECT_TRUE(Comes("a\n"));
}

// Lines of other processes come between writes, and never into a write of PIPE_BUF bytes.
TEST(LogWriterPiecesTest, PiecesAreWholeLines) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  LogWriter writer(ends[1], LossLine);
  for (int i = 0; i < 1000; ++i) writer.Write(Line(i));
  std::string text;
  while (!absl::StrContains(text, Line(999))) {
    char piece[2 * PIPE_BUF];
    const ssize_t size = read(ends[0], piece, sizeof(piece));
    ASSERT_GT(size, 0);
    ASSERT_LE(size, PIPE_BUF);
    ASSERT_EQ(piece[size - 1], '\n');
    text.append(piece, static_cast<size_t>(size));
  }
  ASSERT_TRUE(writer.Drain(kPatience));
  close(ends[0]);
  close(ends[1]);
}

TEST(LogWriterFileTest, LogGoesOnAfterAFullDisk) {
  const TempDir dir;
  const int log = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(log, 0);
  LogWriter writer(log, LossLine);
  for (int i = 0; i < kTooMany; ++i) writer.Write(Line(i));
  EXPECT_FALSE(writer.Drain(absl::Milliseconds(300)));
  const int64_t lost = writer.lost_lines();
  ASSERT_GT(lost, 0);

  // The descriptor leads to a disk with room from now on.
  const int file = open(dir.File("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(dup3(file, log, O_CLOEXEC), 0);
  ASSERT_TRUE(writer.Drain(kPatience));
  writer.Write("after\n");
  ASSERT_TRUE(writer.Drain(kPatience));
  EXPECT_EQ(ExpectAllOrCounted(ReadFile(dir.File("log")), "No space left on device", "after\n"),
            lost);
  close(file);
  close(log);
}

TEST(LogWriterFifoTest, LogGoesOnWhenAReaderComesBack) {
  const TempDir dir;
  const std::string path = dir.File("fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::optional<int> reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const int log = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(log, 0);
  const auto comes = [&](absl::string_view expected) {
    std::string text;
    return WaitUntil(
        [&] {
          char buffer[4096];
          const ssize_t size = read(*reader, buffer, sizeof(buffer));
          if (size > 0) text.append(buffer, static_cast<size_t>(size));
          return text == expected;
        },
        kPatience);
  };
  // As a program without a handler: its thread, too, must not die of a pipe without a reader.
  const auto handler = signal(SIGPIPE, SIG_DFL);
  LogWriter writer(log, LossLine);
  for (int i = 0; i < 3; ++i) {
    writer.Write(absl::StrCat("with ", i, "\n"));
    EXPECT_TRUE(comes(absl::StrCat("with ", i, "\n"))) << i;
    close(*reader);
    writer.Write(absl::StrCat("without ", i, "\n"));
    EXPECT_FALSE(writer.Drain(absl::Milliseconds(50)));
    reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    EXPECT_TRUE(comes(absl::StrCat("without ", i, "\n"))) << i;
  }
  signal(SIGPIPE, handler);
  close(*reader);
  close(log);
}

}  // namespace
}  // namespace ttl
