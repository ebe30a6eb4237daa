#include "service/rpc/services/hold_service.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/rpc/mapping/hold_mapping.h"
#include "service/rpc/mapping/item_page.h"
#include "service/rpc/mapping/page_token.h"
#include "service/rpc/services/container_lookup.h"
#include "service/transport/calls/method_table.h"
#include "spdlog/spdlog.h"

namespace ttl {
namespace {

// Longest text of a caller in a log line.
constexpr size_t kMaxLoggedCallerBytes = 512;

std::string QuotedContainer(absl::string_view id) { return Quoted(id, kMaxContainerIdBytes); }
std::string QuotedHold(absl::string_view id) { return Quoted(id, kMaxHoldIdBytes); }
std::string QuotedCaller(absl::string_view author) { return Quoted(author, kMaxLoggedCallerBytes); }

absl::Status NoSuchHold(absl::string_view container, absl::string_view hold_id) {
  return MakeError(
      Reason::kHoldNotFound,
      absl::StrCat("container ", QuotedContainer(container), " has no hold ", QuotedHold(hold_id)),
      {{"container", std::string(container)}, {"hold_id", std::string(hold_id)}});
}

// `old` is the hold that was there before; null if there was none.
void LogPlaced(absl::string_view container, const HoldPtr& old, const Hold& placed) {
  spdlog::info("{}: container={} hold={} old={} new={}",
               old == nullptr ? "hold placed" : "hold changed", QuotedContainer(container),
               QuotedHold(placed.hold_id), old == nullptr ? "none" : Describe(*old),
               Describe(placed));
}

// A token of a list of one container must be of that container.
absl::Status CheckIsOf(const HoldPosition& position, const v1::ListHoldsRequest& request) {
  if (position.container.empty() || request.container().empty() ||
      position.container == request.container()) {
    return absl::OkStatus();
  }
  return InvalidField(
      "page_token",
      absl::StrCat("page_token is of a list of container ", QuotedContainer(position.container),
                   ": must be empty or the next_page_token of the previous page"));
}

}  // namespace

const google::protobuf::ServiceDescriptor& HoldService::descriptor() const {
  return *v1::PlaceHoldRequest::descriptor()->file()->service(0);
}

void HoldService::AddMethods(MethodTable& table) {
  table.Add("PlaceHold", *this, &HoldService::Place);
  table.Add("ReleaseHold", *this, &HoldService::Release);
  table.Add("ListHolds", *this, &HoldService::List);
  table.Add("ListHeldKeys", *this, &HoldService::ListKeys);
  table.Add("AcceptHolds", *this, &HoldService::Accept);
}

void HoldService::Place(const std::string& author, const v1::PlaceHoldRequest& request,
                        v1::PlaceHoldResponse& response, DoneStatus done) {
  const absl::Time now = clock_.Read().now;
  absl::StatusOr<HoldRequest> hold = ReadHoldRequest(request, author, now);
  if (!hold.ok()) return done(hold.status());
  const absl::StatusOr<ContainerPtr> container = FindContainer(containers_, request.container());
  if (!container.ok()) return done(container.status());
  const HoldPtr old = holds_.Find((*container)->number, request.hold_id());
  holds_.Place(request.container(), *std::move(hold), now,
               [&response, id = request.container(), old,
                done = std::move(done)](const absl::StatusOr<PlacedHold>& placed) mutable {
                 if (placed.ok()) {
                   LogPlaced(id, old, *placed->hold);
                   *response.mutable_hold() = ToProto(*placed->hold, id);
                   for (const PlaceHoldResult result : placed->results) {
                     response.add_results(ToProto(result));
                   }
                 }
                 done(placed.status());
               });
}

void HoldService::Release(const std::string& author, const v1::ReleaseHoldRequest& request,
                          v1::ReleaseHoldResponse& /*response*/, DoneStatus done) {
  if (const absl::Status valid = ValidateHoldId(request.hold_id()); !valid.ok()) return done(valid);
  const absl::StatusOr<ContainerPtr> container = FindContainer(containers_, request.container());
  if (!container.ok()) return done(container.status());
  const HoldPtr old = holds_.Find((*container)->number, request.hold_id());
  if (old == nullptr) return done(NoSuchHold(request.container(), request.hold_id()));
  holds_.Release(request.container(), request.hold_id(), clock_.Read().now,
                 [id = request.container(), old, author,
                  done = std::move(done)](const absl::Status& status) mutable {
                   if (status.ok()) {
                     spdlog::info("hold released: container={} hold={} old={} caller={}",
                                  QuotedContainer(id), QuotedHold(old->hold_id), Describe(*old),
                                  QuotedCaller(author));
                   }
                   done(status);
                 });
}

void HoldService::Accept(const std::string& author, const v1::AcceptHoldsRequest& request,
                         v1::AcceptHoldsResponse& /*response*/, DoneStatus done) {
  const absl::StatusOr<ContainerPtr> container = FindContainer(containers_, request.container());
  if (!container.ok()) return done(container.status());
  const bool was_in_doubt = holds_.AreInDoubt(**container);
  const int64_t holds = holds_.Counts((*container)->number).holds;
  holds_.Accept(
      request.container(), clock_.Read().now,
      [id = request.container(), was_in_doubt, holds, author,
       done = std::move(done)](const absl::Status& status) mutable {
        if (status.ok()) {
          spdlog::warn(
              "holds accepted as complete: container={} holds={} were_in_doubt={} caller={}",
              QuotedContainer(id), holds, was_in_doubt, QuotedCaller(author));
        }
        done(status);
      });
}

absl::Status HoldService::List(const v1::ListHoldsRequest& request,
                               v1::ListHoldsResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const size_t page_size, ReadPageSize(request.page_size()));
  TTL_ASSIGN_OR_RETURN(HoldPosition last, ReadHoldPageToken(request.page_token()));
  TTL_RETURN_IF_ERROR(CheckIsOf(last, request));
  uint64_t number = 0;
  if (!request.container().empty()) {
    TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                         FindContainer(containers_, request.container()));
    number = container->number;
  }
  size_t bytes = 0;
  // One more than the page holds, to tell whether it is the last page.
  const std::vector<HoldPtr> found =
      holds_.List(number, last.container, last.hold_id, page_size + 1);
  bool is_last = found.size() <= page_size;
  for (const HoldPtr& hold : found) {
    const ContainerPtr container = containers_.Find(hold->container);
    if (container == nullptr) continue;  // deleted meanwhile, and its holds with it
    v1::Hold proto = ToProto(*hold, container->id);
    const size_t size = response.holds_size();
    bytes += proto.ByteSizeLong();
    if (size == page_size || (size > 0 && bytes > kMaxPageBytes)) {
      is_last = false;
      break;
    }
    last = {container->id, hold->hold_id};
    *response.add_holds() = std::move(proto);
  }
  if (!is_last) response.set_next_page_token(HoldPageToken(last));
  return absl::OkStatus();
}

absl::Status HoldService::ListKeys(const v1::ListHeldKeysRequest& request,
                                   v1::ListHeldKeysResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const size_t page_size, ReadPageSize(request.page_size()));
  TTL_ASSIGN_OR_RETURN(const std::optional<ItemKey> after,
                       ReadHeldKeyPageToken(request.page_token()));
  TTL_RETURN_IF_ERROR(ValidateHoldId(request.hold_id()));
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(containers_, request.container()));
  const HoldPtr hold = holds_.Find(container->number, request.hold_id());
  if (hold == nullptr) return NoSuchHold(request.container(), request.hold_id());
  TTL_ASSIGN_OR_RETURN(const HeldKeysPage page, holds_.ListKeys(*hold, after, page_size));
  for (const ItemKey& key : page.keys) *response.add_keys() = ToProto(key);
  if (page.next.has_value()) response.set_next_page_token(HeldKeyPageToken(*page.next));
  return absl::OkStatus();
}

}  // namespace ttl
