#include "client/postgres/capture/tables/known_containers.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "service/base/status_macros.h"

namespace ttl::postgres {
namespace {

constexpr absl::Duration kHeartbeat = absl::Seconds(5);

void Add(const v1::WatchContainersResponse& message, std::map<std::string, std::string>& to) {
  for (const v1::Container& container : message.containers()) {
    to[container.id()] = absl::StrFormat("%d.%09d", container.create_time().seconds(),
                                         container.create_time().nanos());
  }
}

}  // namespace

KnownContainers::KnownContainers(const std::shared_ptr<grpc::Channel>& channel, std::string address,
                                 std::function<void()> on_change)
    : address_(std::move(address)),
      on_change_(std::move(on_change)),
      problem_(absl::UnavailableError(
          absl::StrCat("the sidecar at ", address_, " has not answered yet"))),
      watcher_(channel, kHeartbeat,
               {v1::JUDGING_RULE_EXPIRE_AT, v1::JUDGING_RULE_SHOW_HELD, v1::JUDGING_RULE_TOUCH},
               {.on_message = [this](const v1::WatchContainersResponse& message) { Take(message); },
                .on_end = [this](const grpc::Status& status) { End(status); }}) {}

absl::StatusOr<std::string> KnownContainers::CreateTime(const std::string& container) const {
  const MutexLock lock(mutex_);
  TTL_RETURN_IF_ERROR(problem_);
  const auto found = create_times_.find(container);
  if (found != create_times_.end()) return found->second;
  return absl::NotFoundError(absl::StrCat("the sidecar at ", address_, " has no container \"",
                                          container, "\": create it (ttlctl containers create)"));
}

uint64_t KnownContainers::version() const {
  const MutexLock lock(mutex_);
  return version_;
}

void KnownContainers::Take(const v1::WatchContainersResponse& message) {
  {
    const MutexLock lock(mutex_);
    switch (message.event()) {
      case v1::WATCH_EVENT_SNAPSHOT_PART:
        Add(message, arriving_);
        return;
      case v1::WATCH_EVENT_SNAPSHOT_END:
        Add(message, arriving_);
        create_times_ = std::exchange(arriving_, {});
        problem_ = absl::OkStatus();
        break;
      case v1::WATCH_EVENT_CHANGE:
        for (const std::string& id : message.deleted_containers()) create_times_.erase(id);
        Add(message, create_times_);
        break;
      default:
        return;
    }
    ++version_;
  }
  on_change_();
}

void KnownContainers::End(const grpc::Status& status) {
  {
    const MutexLock lock(mutex_);
    problem_ = absl::UnavailableError(
        absl::StrCat("the sidecar at ", address_, " does not answer: ",
                     status.ok() ? std::string("it has ended the call") : status.error_message()));
    arriving_.clear();
    ++version_;
  }
  on_change_();
}

}  // namespace ttl::postgres
