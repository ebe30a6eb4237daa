#include "service/rpc/services/item_calls.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/proto_time.h"
#include "service/base/status_macros.h"
#include "service/base/time_text.h"
#include "service/core/illegal_ttl.h"
#include "service/core/state/data_trust.h"
#include "service/core/ttl_rules.h"
#include "service/rpc/checks/held_items.h"
#include "service/rpc/mapping/item_mapping.h"
#include "service/rpc/mapping/item_page.h"
#include "service/rpc/mapping/page_token.h"
#include "service/rpc/mapping/partition_list.h"
#include "service/rpc/mapping/request_validation.h"
#include "service/rpc/services/container_lookup.h"

namespace ttl {
namespace {

ShownItems ShownBy(const v1::ListItemsRequest& request) {
  if (request.expired_only()) return ShownItems::kExpired;
  return request.show_expired() ? ShownItems::kBoth : ShownItems::kLive;
}

v1::TrackResult ToResult(TrackOutcome outcome) {
  switch (outcome) {
    case TrackOutcome::kTracked:
      return v1::TRACK_RESULT_TRACKED;
    case TrackOutcome::kStale:
      return v1::TRACK_RESULT_STALE;
  }
  return v1::TRACK_RESULT_UNSPECIFIED;
}

v1::UntrackResult ToResult(UntrackOutcome outcome) {
  switch (outcome) {
    case UntrackOutcome::kUntracked:
      return v1::UNTRACK_RESULT_UNTRACKED;
    case UntrackOutcome::kStale:
      return v1::UNTRACK_RESULT_STALE;
    case UntrackOutcome::kNotTracked:
      return v1::UNTRACK_RESULT_NOT_TRACKED;
  }
  return v1::UNTRACK_RESULT_UNSPECIFIED;
}

// A callback for storage that fills `response` with the outcomes.
template <typename Outcome, typename Response>
Done<std::vector<Outcome>> FillResults(Response& response, DoneStatus done) {
  return
      [&response, done = std::move(done)](absl::StatusOr<std::vector<Outcome>> outcomes) mutable {
        if (outcomes.ok()) {
          response.mutable_results()->Reserve(static_cast<int>(outcomes->size()));
          for (const Outcome outcome : *outcomes) response.add_results(ToResult(outcome));
        }
        done(outcomes.status());
      };
}

void FillTouched(const TouchedItems& touched, v1::TouchItemsResponse& response) {
  response.set_touch_time(touched.touch_time);
  for (const TouchedItem& item : touched.items) {
    response.add_results(static_cast<v1::TouchResult>(item.outcome));
    response.add_expire_times(item.expire_time.value_or(0));
  }
}

absl::StatusOr<ItemFilter> ReadItemFilter(const v1::ListItemsRequest& request) {
  ItemFilter filter = {.shown = ShownBy(request)};
  if (request.has_expire_time_from()) filter.expire_time_from = request.expire_time_from();
  if (request.has_expire_time_to()) filter.expire_time_to = request.expire_time_to();
  if (!filter.expire_time_from.has_value() || !filter.expire_time_to.has_value() ||
      *filter.expire_time_from < *filter.expire_time_to) {
    return filter;
  }
  return InvalidField(
      "expire_time_to",
      absl::StrCat("expire_time_to is ", *filter.expire_time_to,
                   ": must be greater than expire_time_from, which is ", *filter.expire_time_from));
}

// The instant as of which a page is judged: for the first page `now` or as_of, for the others that
// of the first page, however long ago it was.
absl::StatusOr<absl::Time> ReadListTime(const v1::ListItemsRequest& request,
                                        const std::optional<ItemPosition>& position,
                                        absl::Time now) {
  const std::optional<absl::Time> first = position.has_value() ? position->judged_at : std::nullopt;
  if (!request.has_as_of()) return std::min(first.value_or(now), now);
  const absl::Time as_of = FromProto(request.as_of());
  if (!first.has_value()) return ReadAsOf(as_of, now);
  // The as_of of the first page may have been ahead of the clock, and then of its judged_at.
  if (as_of >= *first && as_of <= *first + kMaxAsOfLead) return std::min(*first, now);
  return InvalidField("as_of",
                      absl::StrCat("as_of is ", ExactTimeText(as_of),
                                   " and page_token is of a list as of ", ExactTimeText(*first),
                                   ": as_of must be the same for all pages, or be left out"));
}

int64_t CountIllegalTtls(const std::vector<ItemReport>& reports) {
  return std::count_if(reports.begin(), reports.end(),
                       [](const ItemReport& report) { return !HasLegalEnd(report.version.times); });
}

}  // namespace

ItemCalls::ItemCalls(const Containers& containers, Items& items, Touches& touches,
                     const Holds& holds, const GuardedClock& clock, const StoreTrust& store,
                     CheckCounters& counters, absl::Duration adoption_grace)
    : containers_(containers),
      items_(items),
      touches_(touches),
      holds_(holds),
      clock_(clock),
      store_(store),
      counters_(counters),
      adoption_grace_(adoption_grace) {}

std::string ItemCalls::Doubt() const {
  if (items_.trust().in_doubt()) return items_.trust().doubt();
  return store_.is_unconfirmed() ? "the primary store has to be confirmed" : "";
}

absl::StatusOr<JudgingTime> ItemCalls::TimeForTouches() const {
  const JudgingTime time = clock_.Read();
  const std::string why = time.deletes_allowed ? Doubt() : "the clock is suspect";
  if (why.empty()) return time;
  return MakeError(Reason::kTouchUnavailable,
                   absl::StrCat("items cannot be touched, because it is not known which of them "
                                "are expired: ",
                                why));
}

v1::Visibility ItemCalls::VisibilityOf(const Container& container, const ItemKey& key,
                                       const TrackedItem& item, absl::Time now) const {
  if (IsLive(container, item, now)) return v1::VISIBILITY_VISIBLE;
  return item.state_unknown ? v1::VISIBILITY_EXPIRED : JudgeExpired(holds_, container, key);
}

absl::Status ItemCalls::Check(const CheckRequest& request, CheckAnswers& answers,
                              ImpossibleChecks& impossible) const {
  TTL_RETURN_IF_ERROR(ValidateChecks(request));
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(containers_, request.container()));
  const auto find = [&](absl::Span<const KeyView> keys, std::vector<FoundTimes>& times) {
    if (store_.is_unconfirmed()) return times.assign(keys.size(), FoundTimes(std::nullopt));
    items_.FindTimes(container->number, keys, times);
  };
  const absl::Time now = clock_.Read().now;
  CheckTimes times = {now, now};
  if (const std::optional<absl::Time> as_of = request.as_of(); as_of.has_value()) {
    TTL_ASSIGN_OR_RETURN(times.judged_at, ReadAsOf(*as_of, now));
  }
  absl::Status status = JudgeChecks(*container, find, times, request.checks(), answers, impossible);
  if (impossible.count > 0) counters_.impossible += impossible.count;
  if (container->settings.show_held && status.ok()) {
    JudgeExpiredAgain(
        request.checks(), [&](const ItemKey& key) { return JudgeExpired(holds_, *container, key); },
        answers);
  }
  return status;
}

absl::Status ItemCalls::Get(const v1::GetItemRequest& request,
                            v1::GetItemResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const ItemKey key, ReadItemKey(request.partition_key(), request.id()));
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(containers_, request.container()));
  TTL_ASSIGN_OR_RETURN(const std::optional<TrackedItem> item, items_.Find(container->number, key));
  const absl::Time now = clock_.Read().now;
  if (!item.has_value()) return ItemNotFound(key, Doubt());
  const v1::Visibility visibility = VisibilityOf(*container, key, *item, now);
  if (visibility == v1::VISIBILITY_UNTRACKED) {
    return ItemNotFound(key, "whether a hold covers the item is not known");
  }
  if (visibility != v1::VISIBILITY_VISIBLE) return ItemNotFound(key, Doubt());
  response.set_data_in_doubt(!Doubt().empty());
  *response.mutable_item() = MakeItemView(*container, key, item->version, now);
  *response.mutable_judged_at() = ToProto(now);
  return absl::OkStatus();
}

absl::Status ItemCalls::List(const v1::ListItemsRequest& request,
                             v1::ListItemsResponse& response) const {
  TTL_ASSIGN_OR_RETURN(const size_t page_size, ReadPageSize(request.page_size()));
  TTL_ASSIGN_OR_RETURN(const std::optional<ItemPosition> position,
                       ReadItemPageToken(request.page_token()));
  TTL_ASSIGN_OR_RETURN(const ItemFilter filter, ReadItemFilter(request));
  TTL_ASSIGN_OR_RETURN(const absl::Time judged_at,
                       ReadListTime(request, position, clock_.Read().now));
  TTL_ASSIGN_OR_RETURN(const ContainerPtr container,
                       FindContainer(containers_, request.container()));
  if (request.has_partition_key()) {
    TTL_RETURN_IF_ERROR(ReadItemKey(request.partition_key(), "").status());
  }
  const auto find = [&](const ItemKey& key) { return items_.Find(container->number, key); };
  const auto list_all = [&](const std::optional<ItemKey>& from, size_t limit) {
    return items_.List(container->number, from, limit);
  };
  const auto list = [&](const std::optional<ItemKey>& from, size_t limit) {
    if (!request.has_partition_key()) return list_all(from, limit);
    return ListPartition(list_all, find, request.partition_key(), from, limit);
  };
  response.set_data_in_doubt(!Doubt().empty());
  const auto shows_expired = [&](const ItemKey& key) {
    const v1::Visibility visibility = JudgeExpired(holds_, *container, key);
    if (visibility == v1::VISIBILITY_UNTRACKED) response.set_data_in_doubt(true);
    return visibility == v1::VISIBILITY_VISIBLE;
  };
  std::optional<ItemKey> after;
  if (position.has_value()) after = position->last;
  return FillItemPage(*container, list, shows_expired, std::move(after), page_size, filter,
                      judged_at, response);
}

void ItemCalls::Track(const v1::TrackItemsRequest& request, v1::TrackItemsResponse& response,
                      DoneStatus done) {
  const JudgingTime time = clock_.Read();
  const absl::StatusOr<ContainerPtr> container = FindContainer(containers_, request.container());
  const IllegalTtl illegal =
      container.ok() ? IllegalTtlOf((*container)->settings.policy) : IllegalTtl::kRefused;
  absl::StatusOr<std::vector<ItemReport>> reports = ReadReports(request, time.latest, illegal);
  if (!reports.ok()) return done(reports.status());
  if (!container.ok()) return done(container.status());
  if (illegal == IllegalTtl::kKept) counters_.illegal_ttls += CountIllegalTtls(*reports);
  const AdoptionTerms terms = {time.now, time.latest, adoption_grace_, request.adopted()};
  items_.Track((*container)->number, *std::move(reports), terms,
               FillResults<TrackOutcome>(response, std::move(done)));
}

void ItemCalls::Untrack(const v1::UntrackItemsRequest& request, v1::UntrackItemsResponse& response,
                        DoneStatus done) {
  absl::StatusOr<std::vector<ItemRemoval>> removals = ReadRemovals(request, clock_.Read().latest);
  if (!removals.ok()) return done(removals.status());
  const absl::StatusOr<ContainerPtr> container = FindContainer(containers_, request.container());
  if (!container.ok()) return done(container.status());
  items_.Untrack((*container)->number, *std::move(removals),
                 FillResults<UntrackOutcome>(response, std::move(done)));
}

void ItemCalls::Touch(const v1::TouchItemsRequest& request, v1::TouchItemsResponse& response,
                      DoneStatus done) {
  absl::StatusOr<TouchRequest> touches = ReadTouches(request);
  if (!touches.ok()) return done(touches.status());
  const absl::StatusOr<ContainerPtr> container = FindContainer(containers_, request.container());
  if (!container.ok()) return done(container.status());
  touches_.Touch(
      (*container)->number, *std::move(touches), [this] { return TimeForTouches(); },
      [&response, done = std::move(done)](const absl::StatusOr<TouchedItems>& touched) mutable {
        if (touched.ok()) FillTouched(*touched, response);
        done(touched.status());
      });
}

}  // namespace ttl
