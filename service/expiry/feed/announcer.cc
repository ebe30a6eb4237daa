#include "service/expiry/feed/announcer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

// A step is: read the time; look at the containers that changed; run slices of the containers in
// which something is to be announced; publish how far that has come. A slice announces one page of
// expired items, and when there are no more of those, one page of those about to expire; and it
// makes one page of the walk for revived items.
//
// The order matters for the watermark. The time is read before the changes are taken, and published
// last. So whatever was committed before that time, and is to be announced by it, has lowered the
// marks by which the container is covered then (FeedProgress). What is committed later, and was to
// be announced by that time, comes late and is marked so.
//
// A container sleeps until the exact second at which its next item expires. kMaxSleep is a
// fallback.
namespace ttl {
namespace {

// Bounds of a page: one commit.
constexpr UnannouncedLimits kPage = {.max_items = 512, .max_examined = 4096};
// Bounds of a step.
constexpr int kSlicesPerStep = 16;
constexpr absl::Duration kLongestStep = absl::Milliseconds(50);

// Longest time between two steps where there is a feed: the watermark follows the time.
constexpr absl::Duration kMaxWait = absl::Milliseconds(500);
// The same where there is none. A change of a container wakes the loop.
constexpr absl::Duration kNothingToAnnounce = absl::Minutes(1);
constexpr absl::Duration kMaxSleep = absl::Seconds(30);
// Our time counts as stepped if it gained more than this on the steady clock.
constexpr absl::Duration kClockStep = absl::Milliseconds(10);
// After an error, and after a page of which something changed before it was announced.
constexpr absl::Duration kAnnounceRetry = absl::Seconds(1);
constexpr absl::Duration kSoon = absl::Milliseconds(10);

absl::Duration Until(int64_t second, absl::Time now) { return absl::FromUnixSeconds(second) - now; }

}  // namespace

Announcer::StepResult Announcer::RunOnce() {
  StepResult step;
  const FeedMoment moment = parts_.judge.Read();
  const absl::Duration steady = SteadyNow();
  MeetChanged();
  if (states_.empty()) {
    step.wait = kNothingToAnnounce;
    return step;
  }
  if (!moment.judged_at.has_value()) {
    step.wait = Stall();
    return step;
  }
  if (!stall_.empty()) spdlog::info("feed resumed");
  stall_.clear();
  WakeAfterClockStep(*moment.judged_at, steady);
  run_queue_.WakeDue(steady);
  RunSlices(*moment.judged_at, steady, step);
  parts_.progress.Advance(*moment.judged_at);
  const bool has_ready = run_queue_.Next(cursor_).has_value();
  const absl::Duration until = has_ready ? steady : run_queue_.NextWake();
  step.wait = std::clamp(until - SteadyNow(), absl::ZeroDuration(), kMaxWait);
  return step;
}

// Containers sleep by the steady clock, for as long as it was by the time then.
void Announcer::WakeAfterClockStep(absl::Time judged_at, absl::Duration steady) {
  const absl::Duration offset = judged_at - absl::UnixEpoch() - steady;
  const bool came_closer = offset > clock_offset_ + kClockStep;
  if (!came_closer && offset >= clock_offset_) return;
  clock_offset_ = offset;
  if (!came_closer) return;
  for (const auto& [number, state] : states_) run_queue_.Wake(number);
}

absl::Duration Announcer::Stall() {
  std::string reason = parts_.judge.StallReason();
  if (reason.empty()) return kSoon;  // it has just ended
  if (stall_ != reason) spdlog::warn("feed stalled: reason={}", Quoted(reason));
  stall_ = reason;
  parts_.progress.Stall(std::move(reason));
  return kMaxWait;
}

void Announcer::MeetChanged() {
  const auto changed = parts_.storage.unannounced_changes().Take();
  if (changed.has_value()) {
    for (const uint64_t number : *changed) Meet(number);
    return;
  }
  // Also after the storage was reopened, which has forgotten the marks.
  std::vector<uint64_t> known;
  for (auto& [number, state] : states_) {
    state.is_complete = false;
    known.push_back(number);
  }
  for (const uint64_t number : known) Meet(number);
  for (const ContainerPtr& container : parts_.storage.containers().All()) Meet(container->number);
}

void Announcer::Meet(uint64_t number) {
  const ContainerPtr container = parts_.storage.containers().Find(number);
  if (container == nullptr || !container->feed.is_on()) return Forget(number);
  State& state = states_[number];
  MeetAgain(*container, state);
  Cover(*container, state);
  run_queue_.Wake(number);
}

// Takes over what the settings of the container say now.
void Announcer::MeetAgain(const Container& container, State& state) {
  UnannouncedItems& unannounced = parts_.storage.unannounced_items();
  const FeedState& feed = container.feed;
  const uint64_t index = container.index_number;
  if (state.feed_number != feed.number || state.index_number != index) {
    unannounced.Forget(state.index_number);
    unannounced.Forget(index);
    state = {};
    state.feed_number = feed.number;
    state.index_number = index;
  }
  const std::optional<int64_t>& notice = container.settings.feed->notice_seconds;
  if (state.policy_revision != feed.policy_revision) {
    state.is_complete = false;
    state.walked.reset();
  }
  if (state.policy_revision != feed.policy_revision || state.notice != notice) {
    unannounced.ForgetNotices(index);
    state.noticed_until = 0;
  }
  state.policy_revision = feed.policy_revision;
  state.notice = notice;
}

void Announcer::Forget(uint64_t number) {
  const auto it = states_.find(number);
  if (it == states_.end()) return;
  parts_.storage.unannounced_items().Forget(it->second.index_number);
  parts_.progress.Forget(number);
  run_queue_.Forget(number);
  states_.erase(it);
}

void Announcer::RunSlices(absl::Time judged_at, absl::Duration steady, StepResult& step) {
  for (int slices = 0; slices < kSlicesPerStep; ++slices) {
    const std::optional<uint64_t> next = run_queue_.Next(cursor_);
    if (!next.has_value()) return;
    cursor_ = *next;
    RunSlice(*next, judged_at, steady, step);
    if (SteadyNow() - steady >= kLongestStep) return;
  }
}

void Announcer::RunSlice(uint64_t number, absl::Time judged_at, absl::Duration steady,
                         StepResult& step) {
  const ContainerPtr container = parts_.storage.containers().Find(number);
  if (container == nullptr || !container->feed.is_on()) return Forget(number);
  State& state = states_[number];
  MeetAgain(*container, state);
  if (std::string reason = ReasonOfFullLog(*container); !reason.empty()) {
    Walk(*container, state, absl::ToUnixSeconds(judged_at), steady, step);
    state.problem = std::move(reason);
    Cover(*container, state);
    return run_queue_.Sleep(number, steady + kAnnounceRetry);
  }
  const absl::StatusOr<Left> left =
      RunSliceOf(*container, state, absl::ToUnixSeconds(judged_at), steady, step);
  state.problem.clear();
  absl::Duration again = steady;
  if (!left.ok()) {
    state.problem = std::string(left.status().message());
    log_.Log(spdlog::level::warn, absl::StrCat(container->id, "/announce"),
             absl::StrCat("feed stalled: container=", Quoted(container->id),
                          " error=", Quoted(TextOf(left.status()), kMaxErrorBytes)),
             steady);
    again = steady + kAnnounceRetry;
  } else if (*left == Left::kRetry) {
    again = steady + kSoon;
  } else if (*left == Left::kNothing) {
    again = NextRun(*container, state, judged_at, steady);
  }
  Cover(*container, state);
  if (again > steady) run_queue_.Sleep(number, again);
}

std::string Announcer::ReasonOfFullLog(const Container& container) const {
  const Feed& feed = parts_.storage.feed();
  if (!feed.Gates(container).is_full) return "";
  const std::vector<std::string> gates = feed.GatesThatWait(container);
  if (gates.empty()) return "the log is full, and a subscription that cannot be read may need it";
  return absl::StrCat("the log is full and subscription ", Quoted(gates.front()),
                      " has not acknowledged");
}

absl::StatusOr<Announcer::Left> Announcer::RunSliceOf(const Container& container, State& state,
                                                      int64_t now, absl::Duration steady,
                                                      StepResult& step) {
  TTL_ASSIGN_OR_RETURN(Left left, LogExpired(container, state, now, step));
  if (left == Left::kNothing) {
    TTL_ASSIGN_OR_RETURN(left, LogExpiring(container, state, now, step));
  }
  const Left walk = Walk(container, state, now, steady, step);
  return left == Left::kNothing ? walk : left;
}

// An error of the walk must not keep the container from announcing what expires.
Announcer::Left Announcer::Walk(const Container& container, State& state, int64_t now,
                                absl::Duration steady, StepResult& step) {
  if (!container.feed.needs_revive_walk() || steady < state.walk_again) return Left::kNothing;
  const absl::StatusOr<Left> left = Revive(container, state, now, step);
  if (left.ok()) return *left;
  state.walk_again = steady + kAnnounceRetry;
  log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/revive"),
           absl::StrCat("items that live again are not announced: container=", Quoted(container.id),
                        " error=", Quoted(TextOf(left.status()), kMaxErrorBytes)),
           steady);
  return Left::kNothing;
}

// One page of the walk over the items after a change of policy.
absl::StatusOr<Announcer::Left> Announcer::Revive(const Container& container, State& state,
                                                  int64_t now, StepResult& step) {
  Feed& feed = parts_.storage.feed();
  const FeedFigures figures = feed.Figures(container);
  RevivedPage page;
  if (!figures.announced_items_counted || figures.announced_items > 0) {
    TTL_ASSIGN_OR_RETURN(
        page, parts_.storage.unannounced_items().FindRevived(container, now, state.walked, kPage));
  }
  TTL_ASSIGN_OR_RETURN(const int64_t revived,
                       Commit(container, page.items, &Feed::Revive, std::nullopt));
  step.revived += revived;
  // Something has changed, or nothing may be judged any more: the page is read again.
  if (revived < static_cast<int64_t>(page.items.size())) return Left::kRetry;
  state.walked = std::move(page.next);
  if (state.walked.has_value()) return Left::kMore;
  TTL_RETURN_IF_ERROR(Await<absl::Status>([&](auto done) {
    feed.NoteRevived(container.number, container.feed.policy_revision, std::move(done));
  }));
  return Left::kNothing;
}

absl::StatusOr<Announcer::Left> Announcer::LogExpired(const Container& container, State& state,
                                                      int64_t now, StepResult& step) {
  UnannouncedItems& unannounced = parts_.storage.unannounced_items();
  const std::optional<int64_t> next = unannounced.NextExpiry(container);
  const bool is_due = (next.has_value() && *next <= now) || unannounced.HasOthers(container);
  if (!is_due && state.is_complete) return Left::kNothing;
  TTL_ASSIGN_OR_RETURN(UnannouncedScan scan, unannounced.ScanExpired(container, now, kPage));
  LogUnreadable(container, scan.unreadable);
  std::optional<int64_t> announced_until;
  if (const auto announced = parts_.progress.Of(container).announced_until) {
    announced_until = absl::ToUnixSeconds(*announced);
  }
  TTL_ASSIGN_OR_RETURN(const bool done, DealWith(container, scan, &Feed::Announce, announced_until,
                                                 step.announced, step));
  if (!done) return Left::kRetry;
  unannounced.PassExpired(container, scan);
  if (scan.more) return Left::kMore;
  state.is_complete = !container.index_build.has_value();
  return Left::kNothing;
}

absl::StatusOr<Announcer::Left> Announcer::LogExpiring(const Container& container, State& state,
                                                       int64_t now, StepResult& step) {
  UnannouncedItems& unannounced = parts_.storage.unannounced_items();
  const std::optional<int64_t> next = unannounced.NextNotice(container);
  if (!next.has_value() || *next > now) return Left::kNothing;
  TTL_ASSIGN_OR_RETURN(UnannouncedScan scan, unannounced.ScanExpiring(container, now, kPage));
  LogUnreadable(container, scan.unreadable);
  TTL_ASSIGN_OR_RETURN(const bool done, DealWith(container, scan, &Feed::AnnounceExpiring,
                                                 state.noticed_until, step.noticed, step));
  if (!done) return Left::kRetry;
  unannounced.PassExpiring(container, scan);
  if (scan.more) return Left::kMore;
  state.noticed_until = now + container.settings.feed->notice_seconds.value_or(0);
  return Left::kNothing;
}

absl::StatusOr<bool> Announcer::DealWith(const Container& container, UnannouncedScan& scan,
                                         Tell tell, std::optional<int64_t> announced_until,
                                         int64_t& announced, StepResult& step) {
  TTL_ASSIGN_OR_RETURN(const int64_t count, Commit(container, scan.items, tell, announced_until));
  announced += count;
  const auto early = static_cast<int64_t>(scan.early.size());
  int64_t tidied = 0;
  if (early > 0) {
    TTL_ASSIGN_OR_RETURN(tidied, Await<absl::StatusOr<int64_t>>([&](auto done) {
                           parts_.storage.expiry_index().FileByExpireTime(
                               container.number, std::move(scan.early), std::move(done));
                         }));
  }
  step.tidied += tidied;
  return count == static_cast<int64_t>(scan.items.size()) && tidied == early;
}

// `announced_until`: all that expires by then was said to be announced, so the rest of it is late.
absl::StatusOr<int64_t> Announcer::Commit(const Container& container,
                                          const std::vector<UnannouncedItem>& items, Tell tell,
                                          std::optional<int64_t> announced_until) {
  if (items.empty()) return 0;
  std::vector<AnnouncedItem> announced;
  announced.reserve(items.size());
  for (const UnannouncedItem& item : items) {
    const bool is_late = announced_until.has_value() && item.expire_time <= *announced_until;
    announced.push_back({item.key, item.generation, is_late});
  }
  return Await<absl::StatusOr<int64_t>>([&](auto done) {
    (parts_.storage.feed().*tell)(container.number, std::move(announced), std::move(done));
  });
}

void Announcer::LogUnreadable(const Container& container, int64_t items) {
  if (items == 0) return;
  log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/unannounced"),
           absl::StrCat("unreadable items have no EXPIRED: container=", Quoted(container.id),
                        " items=", items),
           SteadyNow());
}

void Announcer::Cover(const Container& container, const State& state) {
  if (container.index_build.has_value()) {
    parts_.progress.Uncover(container.number, "the expiry index is being built");
    return;
  }
  if (!state.is_complete) return parts_.progress.Uncover(container.number, state.problem);
  const UnannouncedItems& unannounced = parts_.storage.unannounced_items();
  std::optional<int64_t> first = unannounced.NextExpiry(container);
  const std::optional<absl::Time> watermark = parts_.progress.Of(container).watermark;
  if (unannounced.HasOthers(container) && watermark.has_value()) {
    // It is not known when those expire: the watermark stays where it is.
    const int64_t next = absl::ToUnixSeconds(*watermark) + 1;
    first = std::min(first.value_or(next), next);
  }
  parts_.progress.Cover(container, first, state.problem);
}

absl::Duration Announcer::NextRun(const Container& container, const State& state,
                                  absl::Time judged_at, absl::Duration steady) const {
  const UnannouncedItems& unannounced = parts_.storage.unannounced_items();
  absl::Duration wait = kMaxSleep;
  for (const auto& next : {unannounced.NextExpiry(container), unannounced.NextNotice(container)}) {
    if (next.has_value()) wait = std::min(wait, Until(*next, judged_at));
  }
  if (container.feed.needs_revive_walk()) wait = std::min(wait, state.walk_again - steady);
  // What is to be announced already came after the slice had looked.
  return steady + (wait > absl::ZeroDuration() ? wait : kSoon);
}

}  // namespace ttl
