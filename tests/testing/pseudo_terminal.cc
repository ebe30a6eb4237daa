#include "tests/testing/pseudo_terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ttl {
namespace {

constexpr int kStopPollMilliseconds = 20;

[[noreturn]] void Die(const char* what) {
  perror(what);
  abort();
}

int OpenMaster() {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) Die("posix_openpt");
  return master;
}

std::string NameOf(int master) {
  char name[64];
  if (ptsname_r(master, name, sizeof(name)) != 0) Die("ptsname_r");
  return name;
}

int OpenSlave(const std::string& path) {
  const int slave = open(path.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) Die(path.c_str());
  return slave;
}

std::string WithoutColours(absl::string_view line) {
  std::string text;
  while (!line.empty()) {
    const size_t end = absl::StartsWith(line, "\033[") ? line.find('m') : line.npos;
    if (end == line.npos) text += line.front();
    line.remove_prefix(end == line.npos ? 1 : end + 1);
  }
  return text;
}

}  // namespace

PseudoTerminal::PseudoTerminal(int columns)
    : master_(OpenMaster()), path_(NameOf(master_)), slave_(OpenSlave(path_)) {
  Resize(columns);
  reader_ = std::thread([this] { Read(); });
}

PseudoTerminal::~PseudoTerminal() {
  stop_ = true;
  reader_.join();
  close(slave_);
  close(master_);
}

void PseudoTerminal::Resize(int columns) {
  winsize size = {};
  size.ws_row = 24;
  size.ws_col = static_cast<unsigned short>(columns);
  if (ioctl(master_, TIOCSWINSZ, &size) != 0) Die("TIOCSWINSZ");
}

std::string PseudoTerminal::Output() const {
  const std::lock_guard lock(mutex_);
  return output_;
}

void PseudoTerminal::Read() {
  while (!stop_) {
    pollfd waiting = {.fd = master_, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, kStopPollMilliseconds) <= 0) continue;
    char bytes[4096];
    const ssize_t count = read(master_, bytes, sizeof(bytes));
    if (count <= 0) continue;
    const std::lock_guard lock(mutex_);
    output_.append(bytes, static_cast<size_t>(count));
  }
}

std::vector<std::string> ShownLines(absl::string_view output) {
  constexpr absl::string_view kErase = "\r\033[K";
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(output, '\n')) {
    line = absl::StripSuffix(line, "\r");
    const size_t erased = line.rfind(kErase);
    if (erased != line.npos) line.remove_prefix(erased + kErase.size());
    lines.push_back(WithoutColours(line));
  }
  return lines;
}

}  // namespace ttl
