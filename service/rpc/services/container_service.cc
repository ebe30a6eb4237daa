#include "service/rpc/services/container_service.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/rpc/mapping/container_mapping.h"
#include "service/rpc/mapping/page_token.h"
#include "service/rpc/services/container_lookup.h"
#include "service/transport/calls/method_table.h"
#include "spdlog/spdlog.h"

namespace ttl {

namespace {

bool MatchesRequest(const v1::ListContainersRequest& request, const Container& container) {
  return absl::StartsWith(container.id, request.id_prefix()) &&
         (!request.ttl_on_only() || container.settings.policy.default_ttl.has_value());
}

// At most `limit` containers after `after` that the request asks for, in the order of ids.
std::vector<ContainerPtr> ListMatching(const Containers& containers,
                                       const v1::ListContainersRequest& request, std::string after,
                                       size_t limit) {
  constexpr size_t kChunk = 256;
  const std::string& prefix = request.id_prefix();
  std::vector<ContainerPtr> matching;
  if (after < prefix) {  // begin at the prefix, which may be an id itself
    const ContainerPtr same = containers.Find(prefix);
    if (same != nullptr && MatchesRequest(request, *same)) matching.push_back(same);
    after = prefix;
  }
  while (matching.size() < limit) {
    const std::vector<ContainerPtr> found = containers.List(after, kChunk);
    for (const ContainerPtr& container : found) {
      if (!absl::StartsWith(container->id, prefix)) return matching;
      if (MatchesRequest(request, *container)) matching.push_back(container);
      if (matching.size() == limit) return matching;
    }
    if (found.size() < kChunk) return matching;
    after = found.back()->id;
  }
  return matching;
}

// Logs that a change of `container` was made although `count` of its `what`, such as holds, stand,
// because of `force`.
void LogForce(const Container& container, const char* what, int64_t count,
              const std::string& author) {
  constexpr size_t kMaxAuthorBytes = 512;
  if (count == 0) return;
  spdlog::warn("{0} disregarded because of force: container={1} {0}={2} caller={3}", what,
               Quoted(container.id, kMaxContainerIdBytes), count, Quoted(author, kMaxAuthorBytes));
}

}  // namespace

ContainerService::ContainerService(Containers& containers, const Holds& holds, const Feed& feed,
                                   const Tallies& tallies, const GuardedClock& clock,
                                   UsageMeter& usage, const ContainerServiceOptions& options)
    : containers_(containers),
      holds_(holds),
      feed_(feed),
      tallies_(tallies),
      clock_(clock),
      usage_(usage),
      options_(options),
      watches_(containers, holds, clock) {}

const google::protobuf::ServiceDescriptor& ContainerService::descriptor() const {
  return *v1::CreateContainerRequest::descriptor()->file()->service(0);
}

void ContainerService::AddMethods(MethodTable& table) {
  table.Add("CreateContainer", *this, &ContainerService::Create);
  table.Add("GetContainer", *this, &ContainerService::Get);
  table.Add("ListContainers", *this, &ContainerService::List);
  table.Add("UpdateContainer", *this, &ContainerService::Update);
  table.Add("DeleteContainer", *this, &ContainerService::Delete);
  watches_.AddMethod(table);
}

int64_t ContainerService::CountSubscriptions(const std::string& id) const {
  return static_cast<int64_t>(feed_.List(id, "", "", kMaxSubscriptions).size());
}

v1::Container ContainerService::View(const Container& container) const {
  return ToProto(container, holds_.AreInDoubt(container));
}

void ContainerService::Create(const v1::CreateContainerRequest& request,
                              v1::CreateContainerResponse& response, DoneStatus done) {
  absl::StatusOr<ContainerSettings> settings = ReadSettings(request.container());
  if (!settings.ok()) return done(settings.status());
  containers_.Create(
      request.container().id(), *std::move(settings), clock_.Read().now,
      [this, &response, done = std::move(done)](absl::StatusOr<ContainerPtr> created) mutable {
        if (created.ok()) {
          spdlog::info("container created: container={} new={}",
                       Quoted((*created)->id, kMaxContainerIdBytes),
                       Describe((*created)->settings));
          *response.mutable_container() = View(**created);
        }
        done(created.status());
      });
}

absl::Status ContainerService::Get(const v1::GetContainerRequest& request,
                                   v1::GetContainerResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container, FindContainer(containers_, request.id()));
  *response.mutable_container() = View(*container);
  return absl::OkStatus();
}

absl::Status ContainerService::List(const v1::ListContainersRequest& request,
                                    v1::ListContainersResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const size_t page_size, ReadPageSize(request.page_size()));
  TTL_ASSIGN_OR_RETURN(const std::string after, ReadContainerPageToken(request.page_token()));
  // One more than the page holds, to tell whether it is the last page.
  std::vector<ContainerPtr> found = ListMatching(containers_, request, after, page_size + 1);
  if (found.size() > page_size) {
    found.pop_back();
    response.set_next_page_token(ContainerPageToken(found.back()->id));
  }
  for (const ContainerPtr& container : found) *response.add_containers() = View(*container);
  return absl::OkStatus();
}

void ContainerService::Update(const std::string& author, const v1::UpdateContainerRequest& request,
                              v1::UpdateContainerResponse& response, DoneStatus done) {
  if (request.validate_only()) return done(Preview(request, response));
  absl::StatusOr<ContainerUpdate> update = ReadUpdate(request);
  if (!update.ok()) return done(update.status());
  auto old = std::make_shared<Container>();
  const JudgingTime time = clock_.Read();
  const absl::Time now = time.now;
  containers_.Update(
      request.container().id(),
      [update = *std::move(update), old](const Container& present) {
        *old = present;
        return ApplyUpdate(update, present);
      },
      // The grace must last by whichever clock turns out to be right.
      now, options_.policy_grace + (time.latest - now), request.force(),
      [this, &response, old, now, author, force = request.force(),
       subscriptions = CountSubscriptions(request.container().id()),
       done = std::move(done)](absl::StatusOr<ContainerPtr> updated) mutable {
        if (updated.ok()) {
          spdlog::info("container updated: container={} old={} new={} brakes_pulled={}",
                       Quoted((*updated)->id, kMaxContainerIdBytes), Describe(old->settings),
                       Describe((*updated)->settings), DescribePulledBrakes(**updated, now));
          if (force && TakesIndexAway(old->settings, (*updated)->settings)) {
            LogForce(**updated, "holds", holds_.Counts((*updated)->number).holds, author);
          }
          if (force && BreaksSubscriptions(*old, (*updated)->settings)) {
            LogForce(**updated, "subscriptions", subscriptions, author);
          }
          *response.mutable_container() = View(**updated);
        }
        done(updated.status());
      });
}

absl::Status ContainerService::Preview(const v1::UpdateContainerRequest& request,
                                       v1::UpdateContainerResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const ContainerUpdate update, ReadUpdate(request));
  TTL_ASSIGN_OR_RETURN(const ContainerPtr present,
                       FindContainer(containers_, request.container().id()));
  TTL_ASSIGN_OR_RETURN(ContainerSettings settings, ApplyUpdate(update, *present));
  TTL_RETURN_IF_ERROR(ValidateChange(present->settings, settings));
  if (!request.force() && TakesIndexAway(present->settings, settings)) {
    TTL_RETURN_IF_ERROR(CheckNoHoldStands(*present, holds_.Counts(present->number).holds));
  }
  if (!request.force() && BreaksSubscriptions(*present, settings)) {
    TTL_RETURN_IF_ERROR(CheckNoSubscriptionStands(*present, CountSubscriptions(present->id)));
  }
  *response.mutable_preview() = MakePreview(tallies_.View(present->number),
                                            present->settings.policy, settings, clock_.Read().now);
  // Returned with the present etag, so that the caller can make the change on condition that there
  // was no other meanwhile.
  Container changed = *present;
  changed.settings = settings;
  *response.mutable_container() = View(changed);
  return absl::OkStatus();
}

void ContainerService::Delete(const std::string& author, const v1::DeleteContainerRequest& request,
                              v1::DeleteContainerResponse& /*response*/, DoneStatus done) {
  const absl::StatusOr<ContainerPtr> old = FindContainer(containers_, request.id());
  if (!old.ok()) return done(old.status());
  const int64_t holds = holds_.Counts((*old)->number).holds;
  const int64_t subscriptions = CountSubscriptions(request.id());
  containers_.Delete(request.id(), request.etag(), request.force(),
                     [this, old = *old, holds, subscriptions, author, force = request.force(),
                      done = std::move(done)](const absl::Status& status) mutable {
                       if (status.ok()) {
                         if (force) LogForce(*old, "holds", holds, author);
                         if (force) LogForce(*old, "subscriptions", subscriptions, author);
                         spdlog::info("container deleted: container={} old={}",
                                      Quoted(old->id, kMaxContainerIdBytes),
                                      Describe(old->settings));
                         usage_.Forget(old->number);
                       }
                       done(status);
                     });
}

}  // namespace ttl
