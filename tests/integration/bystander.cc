#include "tests/integration/bystander.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "tests/testing/channel.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

constexpr char kContainer[] = "bystander";

absl::Status Prepare(SidecarCalls& calls) {
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  absl::Status status = calls.CreateContainer(kContainer, -1);
  status.Update(calls.Track(kContainer, "live", now, 3600));
  status.Update(calls.Track(kContainer, "expired", now - 60, 30));
  return status;
}

// Tries again once, as our clients do: where memory is short, gRPC closes connections
// between two calls, and does not ask whose they are.
absl::StatusOr<v1::Visibility> Check(SidecarCalls& calls, const char* id) {
  const absl::StatusOr<v1::Visibility> answer = calls.Check(kContainer, id);
  return absl::IsUnavailable(answer.status()) ? calls.Check(kContainer, id) : answer;
}

absl::Status Expect(SidecarCalls& calls, const char* id, v1::Visibility want) {
  const absl::StatusOr<v1::Visibility> answer = Check(calls, id);
  if (!answer.ok()) return answer.status();
  if (*answer == want) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(id, " is ", v1::Visibility_Name(*answer)));
}

}  // namespace

int64_t AnonymousMemory(pid_t pid) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("RssAnon:", 0) != 0) continue;
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    int64_t kib = 0;
    if (words.size() == 3 && absl::SimpleAtoi(words[1], &kib)) return kib << 10;
  }
  return -1;
}

Bystander::Bystander(std::string address, pid_t pid)
    : address_(std::move(address)), pid_(pid), calls_(NewTestChannel(address_)) {
  failure_ = Prepare(calls_);
  failed_ = !failure_.ok();
  thread_ = std::thread([this] { Run(); });
}

Bystander::~Bystander() {
  stopping_ = true;
  thread_.join();
}

absl::Status Bystander::CheckBoth(SidecarCalls& calls) {
  absl::Status status = Expect(calls, "live", v1::VISIBILITY_VISIBLE);
  status.Update(Expect(calls, "expired", v1::VISIBILITY_EXPIRED));
  return status;
}

void Bystander::Run() {
  while (!stopping_ && !failed_) {
    failure_ = CheckBoth(calls_);
    failed_ = !failure_.ok();
    most_memory_ = std::max<int64_t>(most_memory_, AnonymousMemory(pid_));
    ++rounds_;
  }
}

absl::Status Bystander::AwaitRounds(int64_t rounds) {
  const int64_t enough = rounds_ + rounds;
  const bool came = WaitUntil([&] { return failed_ || rounds_ >= enough; }, absl::Seconds(60));
  if (failed_) return failure_;
  return came ? absl::OkStatus() : absl::DeadlineExceededError("answers do not come");
}

absl::Status Bystander::CheckAsNewcomer() const {
  SidecarCalls calls(NewTestChannel(address_));
  absl::Status status;
  // Who connects while many others do waits for its turn.
  WaitUntil([&] {
    status = CheckBoth(calls);
    return !absl::IsUnavailable(status);
  });
  return status;
}

}  // namespace ttl
