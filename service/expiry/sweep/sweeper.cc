#include "service/expiry/sweep/sweeper.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/done.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/core/adoption.h"
#include "service/core/delete_holds.h"
#include "service/core/delete_rates.h"
#include "service/core/windows/window_view.h"
#include "service/expiry/sweep/gated_items.h"
#include "spdlog/spdlog.h"

// A step of the sweeper is: commit the outcomes of calls that have ended; wake the containers in
// which something changed or whose time has come; then run slices until one finds a batch, which is
// sent, no container is ready, or the bounds of a step are reached.
//
// Reading the index and committing take time, so a step reads the time anew after each of its parts
// in which it has done so: after the calls that have ended are known, so that no answer is handled
// at a time before it arrived; after their outcomes are committed; before the batch is sent, so
// that it is judged and its tokens are taken at the time of sending; and at the end.
//
// A slice looks at one container twice. The first look asks the low-water marks alone, without the
// gate, and puts the container to sleep if nothing can be due. For the second it enters the delete
// gate and reads the policy again, since only a policy read inside stays in force until the pass is
// given back. Tokens are looked at before the index is read, so that a container that waits for its
// rate costs no reads. All of this is checked again, and the tokens are taken, before the batch is
// sent. A container that cannot send for reasons of its own sleeps; one that lacks only global
// tokens becomes head of line, and while it waits nobody else takes tokens, so that a large batch
// is not starved by smaller ones.
//
// Items under a hold on their key or partition are moved out of the families that are scanned,
// once, so that no later slice meets them; housekeeping puts them back when the hold has ended. A
// container that is held as a whole is like one that is paused. One that its windows close sleeps
// until they open.
//
// Where the feed has gates, due items that these do not let pass are set aside in the same way,
// each once for each EXPIRED; the scan finds them again when the gates have passed that.
//
// In a container with a feed the announcer has usually announced the expiry of an item long before
// it is due. If not, the slice announces it, and the next one sends the item.
//
// Every path either sends, in which case the end of the call wakes the container, or names the time
// of the next slice. Whatever may change earlier wakes it: commits through DueChanges, a step of
// the clock, and the store becoming ready. kMaxWait, kMaxSleep and the full scans are a fallback.
namespace ttl {
namespace {

constexpr size_t kMaxRequestBytes = size_t{1} << 20;
// Longest time between two steps, in case a wake-up is missed.
constexpr absl::Duration kMaxWait = absl::Seconds(1);
// Longest sleep of a container, whatever the clocks do.
constexpr absl::Duration kMaxSleep = absl::Seconds(30);
// Our time counts as stepped if it moved by more than this against the steady clock.
constexpr absl::Duration kClockStep = absl::Seconds(1);
// Bounds of a step.
constexpr int kSlicesPerStep = 1000;
constexpr int64_t kScansPerStep = 16;
constexpr size_t kEntriesPerScan = 4096;
// Due items read at least where some may be put off or set aside.
constexpr int64_t kPutOffPage = 256;
// Upkeep of a container whose deletes are held; the interval doubles while there is nothing to do.
constexpr absl::Duration kUpkeepInterval = absl::Seconds(10);
constexpr absl::Duration kMaxUpkeepInterval = absl::Minutes(5);
constexpr int64_t kUpkeepDueItems = 256;
// A scan from the beginning finds entries that the low-water marks missed.
constexpr absl::Duration kFullScanInterval = absl::Minutes(10);

// How long a container may wait for a change that wakes nobody, such as the throughput that
// requests leave over.
absl::Duration LongestWait(const Container& container) {
  const bool has_budget = container.settings.request_units_per_second.has_value();
  return has_budget ? TokenBucket::kBatchInterval : kMaxWait;
}

}  // namespace

Sweeper::Sweeper(const SweeperOptions& options, const Parts& parts)
    : Sweeper(options, parts, parts.moments.Read()) {}

Sweeper::Sweeper(const SweeperOptions& options, const Parts& parts, const Moment& now)
    : options_(options),
      parts_(parts),
      clock_offset_(now.time.for_deletes - absl::UnixEpoch() - now.steady),
      store_({.deadline = options.delete_deadline,
              .max_clock_skew = options.max_store_clock_skew,
              .not_found_burst_items = options.not_found_burst_items,
              .excused_items = options.batch_items * options.max_calls_under_way},
             parts.store, parts.levers, parts.wake),
      outcomes_(parts.storage, parts.published, store_),
      calls_(parts.store, options.max_calls_under_way, options.delete_deadline, parts.wake),
      bucket_(parts.levers.limit().Get(), now.steady, std::max<int64_t>(options.batch_items, 1)) {}

Sweeper::StepResult Sweeper::RunOnce() {
  StepResult step;
  TakeIn(step);
  const Moment now = parts_.moments.Read();
  WakeAfterClockChange(now);
  calls_.ReleaseSettled(now.steady);
  store_.AskIfDue(now);
  EndReachedHolds(now);
  RunSlices(now, step);
  const Moment end = parts_.moments.Read();
  Post(end);
  step.wait = std::max(step.wait - (end.steady - now.steady), absl::ZeroDuration());
  return step;
}

void Sweeper::TakeIn(StepResult& step) {
  const auto ended = calls_.TakeEnded();
  store_.CollectAnswer();
  const Moment now = parts_.moments.Read();
  for (const auto& call : ended) {
    TakeEnded(*call, now);
    ++step.answered;
  }
  const bool was_ready = store_.IsReady();
  if (store_.TakeInAnswer(now)) ++step.answered;
  // Containers may have been waiting for the store.
  if (!was_ready && store_.IsReady()) parts_.storage.due_changes().AddAll();
  if (step.answered > 0) Post(parts_.moments.Read());
}

void Sweeper::Post(const Moment& now) {
  parts_.published.PostStore(store_.View(now));
  parts_.published.PostSweeper({now.steady, calls_.count()});
}

bool Sweeper::AwaitCall() {
  if (calls_.count() > 0) {
    calls_.AwaitOne();
    return true;
  }
  const bool is_asking = store_.is_asking();
  store_.AwaitAnswer();
  return is_asking;
}

Sweeper::Pacing& Sweeper::PacingOf(uint64_t container, const Moment& now) {
  const auto [it, is_new] =
      pacings_.try_emplace(container, std::max<int64_t>(options_.batch_items, 1), now.steady);
  Pacing& pacing = it->second;
  if (is_new) {
    pacing.next_full_scan = now.steady + kFullScanInterval;
    pacing.upkeep_interval = kUpkeepInterval;
  }
  return pacing;
}

void Sweeper::Forget(uint64_t container) {
  run_queue_.Forget(container);
  pacings_.erase(container);
  parts_.published.Forget(container);
}

void Sweeper::WakeChanged() {
  const auto changed = parts_.storage.due_changes().Take();
  if (changed.has_value()) {
    for (const uint64_t container : *changed) run_queue_.Wake(container);
    return;
  }
  for (const ContainerPtr& container : parts_.storage.containers().All()) {
    run_queue_.Wake(container->number);
  }
  head_of_line_ = 0;  // the global limit may have changed
}

// Sleep times and the distance to the store's clock were computed by the time before the change.
void Sweeper::WakeAfterClockChange(const Moment& now) {
  const absl::Duration offset = now.time.for_deletes - absl::UnixEpoch() - now.steady;
  const bool stepped = absl::AbsDuration(offset - clock_offset_) > kClockStep;
  const bool allowed_again = now.time.deletes_allowed && !deletes_were_allowed_;
  deletes_were_allowed_ = now.time.deletes_allowed;
  if (!stepped && !allowed_again) return;
  clock_offset_ = offset;
  parts_.storage.due_changes().AddAll();
  store_.state().AskSoon();
}

void Sweeper::RunSlices(const Moment& now, StepResult& step) {
  WakeChanged();
  run_queue_.WakeDue(now.steady);
  ResumeHeadOfLine(now.steady);
  // The end of a call wakes the loop.
  step.wait = kMaxWait;
  if (!calls_.HasRoom()) return;
  step.wait = absl::ZeroDuration();
  scans_left_ = kScansPerStep;
  for (int slices = 0; slices < kSlicesPerStep && scans_left_ > 0; ++slices) {
    const std::optional<uint64_t> next = run_queue_.Next(cursor_);
    if (!next.has_value()) {
      step.wait = TimeToWait(now.steady);
      return;
    }
    cursor_ = *next;
    RunSlice(*next, now, step);
    if (step.found > 0) return;
  }
}

void Sweeper::ResumeHeadOfLine(absl::Duration now) {
  if (head_of_line_ == 0 || now < head_of_line_until_) return;
  cursor_ = std::exchange(head_of_line_, 0) - 1;
}

absl::Duration Sweeper::TimeToWait(absl::Duration now) const {
  absl::Duration until = std::min({now + kMaxWait, run_queue_.NextWake(), calls_.NextSettled()});
  if (!store_.IsReady() && parts_.store != nullptr) {
    until = std::min(until, store_.state().next_probe());
  }
  return std::max(until - now, absl::ZeroDuration());
}

void Sweeper::RunSlice(uint64_t number, const Moment& now, StepResult& step) {
  const ContainerPtr container = parts_.storage.containers().Find(number);
  // A deleted container with a call in flight is forgotten when that has ended.
  if (calls_.IsInFlight(number)) {
    run_queue_.Sleep(number, absl::InfiniteDuration());
    return;
  }
  if (container == nullptr) {
    Forget(number);
    return;
  }
  Pacing& pacing = PacingOf(number, now);
  NextSlice next = RunSliceOf(container, pacing, now, step);
  if (!next.found.has_value()) return EndSlice(*container, pacing, next, now);
  const Moment sending = parts_.moments.Read();
  const Slice slice = MakeSlice(next.found->container, pacing, sending);
  EndSlice(*container, pacing, Send(slice, *std::move(next.found), sending, step), sending);
}

void Sweeper::EndSlice(const Container& container, Pacing& pacing, const NextSlice& next,
                       const Moment& now) {
  PostPace(container, pacing, now);
  if (next.sent) {
    run_queue_.Sleep(container.number, absl::InfiniteDuration());
  } else if (next.at > now.steady) {
    run_queue_.Sleep(container.number, next.at);
  }
}

Sweeper::NextSlice Sweeper::RunSliceOf(const ContainerPtr& listed, Pacing& pacing,
                                       const Moment& now, StepResult& step) {
  const Slice first_look = MakeSlice(listed, pacing, now);
  const absl::Duration next_due = NextDue(first_look, now);
  if (next_due > now.steady && !first_look.full_scan) {
    pacing.pace.set_waiting_for_rate(false);
    return {std::min(next_due, pacing.next_full_scan)};
  }
  std::optional<DeleteGate::Pass> pass = parts_.storage.delete_gate().TryEnter(listed->number);
  // Read again inside the gate: only this policy stays in force until we leave.
  ContainerPtr container = parts_.storage.containers().Find(listed->number);
  if (container == nullptr) return {now.steady};
  const Slice slice = MakeSlice(std::move(container), pacing, now);
  if (!MaySend(slice, pass.has_value(), now)) {
    pass.reset();
    return KeepUpIndex(slice, now, step);
  }
  const absl::Duration tokens_at = TokensAt(slice, pacing.wanted, now);
  if (tokens_at > now.steady) return {tokens_at};
  return Find(slice, *std::move(pass), now, step);
}

Sweeper::Slice Sweeper::MakeSlice(ContainerPtr container, Pacing& pacing, const Moment& now) const {
  const DueRule rule = ComputeDueRule(container->settings.policy, container->replaced_policies,
                                      now.time.for_deletes);
  return {pacing, std::move(container), rule, now.steady >= pacing.next_full_scan};
}

absl::Duration Sweeper::NextDue(const Slice& slice, const Moment& now) const {
  // The end of a grace makes items due earlier without any commit.
  const bool in_grace = !slice.container->replaced_policies.empty();
  const absl::Duration latest = now.steady + (in_grace ? kMaxWait : kMaxSleep);
  const std::optional<int64_t> next =
      parts_.storage.expiry_index().NextDueTime(*slice.container, slice.rule);
  if (!next.has_value()) return latest;
  const absl::Time judged_at = store_.JudgeTime(now);
  if (absl::ToUnixSeconds(judged_at) >= *next) return now.steady;
  return std::min(now.steady + (absl::FromUnixSeconds(*next) - judged_at), latest);
}

bool Sweeper::MaySend(const Slice& slice, bool entered, const Moment& now) {
  const Container& container = *slice.container;
  ContainerPace& pace = slice.pacing.pace;
  const std::optional<double> limit_of_all = parts_.levers.limit().Get();
  const DeleteRates rates =
      ComputeDeleteRates(container.settings, options_.container_max_deletes_per_second,
                         limit_of_all, parts_.usage.RequestRate(container.number, now.steady),
                         pace.learned_cost(), ViewWindows(container.settings.windows, now.time));
  const absl::Duration until_open =
      rates.windows_open.value_or(now.time.for_deletes) - now.time.for_deletes;
  slice.pacing.windows_open = now.steady + std::min(until_open, kMaxSleep);
  pace.Update(rates.own_limit, rates.budget, now.steady);
  bucket_.SetRate(limit_of_all, now.steady);
  const std::vector<DeleteHold> holds = ComputeDeleteHolds({
      .container = container,
      .storage = parts_.storage.FactsForDeletes(container.number),
      .time = now.time,
      .store = store_.View(now),
      .pace = pace.View(now),
      .rates = rates,
  });
  // The gate may have been opened since it refused the slice.
  if (!entered || std::any_of(holds.begin(), holds.end(), StopsDeletes)) {
    pace.set_waiting_for_rate(false);
    return false;
  }
  return store_.IsReady() && calls_.HasRoomFor(pace.in_trouble());
}

absl::Duration Sweeper::TokensAt(const Slice& slice, int64_t count, const Moment& now) {
  ContainerPace& pace = slice.pacing.pace;
  count = std::min({count, MaxItems(slice), bucket_.BatchSize()});
  const absl::Duration own_wait = pace.TimeUntil(count, now.steady);
  const absl::Duration wait_of_all = bucket_.TimeUntil(count, now.steady);
  // While a container is head of line, global tokens are reserved for it.
  const bool has_tokens = own_wait + wait_of_all <= absl::ZeroDuration() && head_of_line_ == 0;
  pace.set_waiting_for_rate(!has_tokens);
  if (has_tokens) return now.steady;
  slice.pacing.wanted = count;
  // Checked again earlier: rates change while a container waits.
  if (own_wait > absl::ZeroDuration()) {
    return now.steady + std::min(own_wait, LongestWait(*slice.container));
  }
  if (head_of_line_ == 0) {
    head_of_line_ = slice.container->number;
    head_of_line_until_ = now.steady + std::min(wait_of_all, kMaxWait);
  }
  return head_of_line_until_;
}

Sweeper::NextSlice Sweeper::Find(const Slice& slice, DeleteGate::Pass pass, const Moment& now,
                                 StepResult& step) {
  const int64_t tidied_before = step.tidied;
  const Container& container = *slice.container;
  Suspects& suspects = slice.pacing.suspects;
  int64_t max_due = MaxItems(slice) + static_cast<int64_t>(suspects.size());
  // Items that the store cannot compare are put off by the page, so that at a low rate they do not
  // take a commit each.
  const bool puts_off = container.has_expire_at && !store_.state().knows_expire_at();
  const GateView gates = parts_.storage.feed().Gates(container);
  const bool takes_pages = puts_off || container.has_holds || gates.has_gates;
  if (takes_pages) max_due = std::max(max_due, kPutOffPage);
  // Looks for items that pass behind those that a full log blocks.
  if (gates.is_full) max_due = std::max(max_due, static_cast<int64_t>(kEntriesPerScan));
  std::optional<DueScan> scan = Scan(slice, max_due, /*is_held=*/false, now, step);
  if (!scan.has_value()) return {slice.pacing.pace.held_until()};
  const size_t due = scan->due.size();
  scan->due = suspects.Choose(std::move(scan->due));
  scan->more = scan->more || scan->due.size() < due;
  if (HasTooManyAdopted(container, scan->due, now)) return {now.steady + kMaxWait};
  if (puts_off) {
    step.tidied += outcomes_.PutOffExpireAt(container, scan->due, slice.pacing.pace, now);
  }
  if (takes_pages) {
    scan->more = scan->more || static_cast<int64_t>(scan->due.size()) > MaxItems(slice);
  }
  const bool tidied = step.tidied > tidied_before;
  if (scan->due.empty()) return EndEmpty(slice, *scan, tidied, now);
  step.found = static_cast<int64_t>(scan->due.size());
  return {.at = now.steady,
          .found = Found{slice.container, *std::move(scan), tidied, std::move(pass)}};
}

Sweeper::NextSlice Sweeper::Send(const Slice& slice, Found found, const Moment& now,
                                 StepResult& step) {
  // The next slice tells how long the container waits.
  if (!MaySend(slice, /*entered=*/true, now)) return {now.steady};
  DueScan& scan = found.scan;
  if (!KeepPassed(*slice.container, scan)) return {now.steady};
  const StoreState& store = store_.state();
  const BatchBounds bounds = {MaxItems(slice), kMaxRequestBytes, store.compares_etags()};
  const absl::Time judged_at = store_.JudgeTime(now);
  const absl::Time not_after = store.Now(now.steady).value_or(judged_at) + options_.delete_deadline;
  JudgedBatch batch =
      JudgeBatch(*slice.container, slice.rule, std::move(scan.due), bounds, judged_at, not_after);
  batch.request.set_store_id(store.store_id());
  const int64_t count = static_cast<int64_t>(batch.items.size());
  if (count == 0) return EndEmpty(slice, scan, found.tidied, now);
  const absl::Duration tokens_at = TokensAt(slice, count, now);
  if (tokens_at > now.steady) return {tokens_at};

  slice.pacing.wanted = scan.more ? count : 1;
  slice.pacing.pace.Take(count, now.steady);
  bucket_.Take(count, now.steady);
  step.sent += count;
  SendCall(slice, std::move(batch), std::move(found.pass), now);
  return {.at = now.steady, .sent = true};
}

Sweeper::NextSlice Sweeper::EndEmpty(const Slice& slice, const DueScan& scan, bool tidied,
                                     const Moment& now) {
  slice.pacing.pace.set_waiting_for_rate(false);
  if (scan.more || tidied) return {now.steady};
  if (IsPassComplete(slice, scan, store_.JudgeTime(now))) {
    parts_.published.PostCompletePass(slice.container->number, now.time.now);
  }
  // The scan has moved the low-water marks. Unreadable items are left for later.
  const absl::Duration next_due = NextDue(slice, now);
  return {next_due > now.steady ? next_due : now.steady + kMaxWait};
}

// A scan that found nothing due completes a pass, unless due items wait for a retry.
bool Sweeper::IsPassComplete(const Slice& slice, const DueScan& scan, absl::Time judged_at) const {
  if (scan.unreadable > 0 || slice.pacing.announced_nothing) return false;
  return !parts_.storage.expiry_index()
              .HasRetries(*slice.container, slice.rule, absl::ToUnixSeconds(judged_at))
              .value_or(true);
}

// Decided when the first adopted item would be sent, when most of an import is known.
bool Sweeper::HasTooManyAdopted(const Container& container, const std::vector<DueItem>& due,
                                const Moment& now) {
  if (!container.settings.brake.has_value()) return false;
  const bool has_adopted = std::any_of(due.begin(), due.end(), [&](const DueItem& item) {
    return IsToConfirm(container, item.item.adopted_until);
  });
  if (!has_adopted) return false;
  const Tallies& tallies = parts_.storage.tallies();
  const uint64_t number = container.number;
  if (!AdoptionPullsBrake(container, tallies.Adopted(number), tallies.Tracked(number).items)) {
    return false;
  }
  const auto pulled = Await<absl::StatusOr<bool>>([&](auto done) {
    parts_.storage.containers().PullBrakeIfTooManyAdopted(number, now.time.now, std::move(done));
  });
  if (pulled.ok() && *pulled) {
    spdlog::warn("brake pulled: container={} adopted_items={}",
                 Quoted(container.id, kMaxContainerIdBytes),
                 AdoptedItemsToConfirm(container, tallies.Adopted(number)));
  }
  return !pulled.ok() || *pulled;
}

int64_t Sweeper::MaxItems(const Slice& slice) const {
  return std::min({slice.pacing.pace.MaxItems(), store_.state().MaxBatchItems(options_.batch_items),
                   bucket_.BatchSize()});
}

Sweeper::NextSlice Sweeper::KeepUpIndex(const Slice& slice, const Moment& now, StepResult& step) {
  Pacing& pacing = slice.pacing;
  absl::Duration again = pacing.windows_open > now.steady
                             ? pacing.windows_open
                             : now.steady + LongestWait(*slice.container);
  if (const absl::Duration held = pacing.pace.held_until(); held > now.steady) {
    again = std::min(again, held);
  }
  if (now.steady < pacing.next_upkeep) return {again};
  const int64_t tidied_before = step.tidied;
  const std::optional<DueScan> scan = Scan(slice, kUpkeepDueItems, /*is_held=*/true, now, step);
  if (!scan.has_value()) return {again};
  const bool tidied = step.tidied > tidied_before;
  if (scan->more && tidied) return {now.steady};
  pacing.upkeep_interval =
      tidied ? kUpkeepInterval : std::min(2 * pacing.upkeep_interval, kMaxUpkeepInterval);
  pacing.next_upkeep = now.steady + pacing.upkeep_interval;
  return {again};
}

std::optional<DueScan> Sweeper::Scan(const Slice& slice, int64_t max_due, bool is_held,
                                     const Moment& now, StepResult& step) {
  --scans_left_;
  const Container& container = *slice.container;
  const ScanLimits limits = {static_cast<size_t>(max_due), kEntriesPerScan, slice.full_scan};
  absl::StatusOr<DueScan> scan = parts_.storage.expiry_index().ScanDue(
      container, slice.rule, absl::ToUnixSeconds(store_.JudgeTime(now)), limits);
  if (!scan.ok()) {
    slice.pacing.pace.Hold(ContainerPace::kFirstSlowHold, ContainerPace::kMaxSlowHold, now);
    slice.pacing.next_upkeep = now.steady + kUpkeepInterval;
    log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/scan"),
             absl::StrCat("expiry index cannot be read: container=", Quoted(container.id),
                          " error=", Quoted(TextOf(scan.status()), kMaxErrorBytes)),
             now.steady);
    return std::nullopt;
  }
  if (scan->unreadable > 0) {
    log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/unreadable"),
             absl::StrCat("due items are unreadable and are not deleted: container=",
                          Quoted(container.id), " items=", scan->unreadable),
             now.steady);
  }
  if (slice.full_scan) slice.pacing.next_full_scan = now.steady + kFullScanInterval;
  const GateView gates = parts_.storage.feed().Gates(container);
  const bool taken_out = gates.has_gates ? TakeOutHeld(slice, *scan, now, step) &&
                                               TakeOutGated(slice, gates, is_held, *scan, now, step)
                                         : TakeOutUnannounced(slice, is_held, *scan, now, step) &&
                                               TakeOutHeld(slice, *scan, now, step);
  if (!taken_out) {
    slice.pacing.pace.Hold(ContainerPace::kFirstSlowHold, ContainerPace::kMaxSlowHold, now);
    return std::nullopt;
  }
  if (!scan->early.empty()) {
    const int64_t tidied = Tidy(container, std::move(scan->early), now);
    step.tidied += tidied;
  }
  return *std::move(scan);
}

bool Sweeper::TakeOutUnannounced(const Slice& slice, bool is_held, DueScan& scan, const Moment& now,
                                 StepResult& step) {
  const Container& container = *slice.container;
  if (!container.feed.is_on()) return true;
  std::vector<AnnouncedItem> unannounced;
  std::optional<absl::Time> announced_until;
  if (parts_.feed_progress != nullptr) {
    announced_until = parts_.feed_progress->Of(container).announced_until;
  }
  std::erase_if(scan.due, [&](const DueItem& due) {
    const TrackedItem& item = due.item;
    // The expiry of an item of which the present state is unknown is never announced.
    if (item.state_unknown || container.feed.IsAnnounced(item.expired_sequence)) return false;
    const std::optional<int64_t> end =
        ExpireTime(container.settings.policy.default_ttl, item.version.times);
    const bool is_late = announced_until.has_value() && IsExpiredAt(end, *announced_until);
    unannounced.push_back({due.key, item.generation, is_late});
    return true;
  });
  if (unannounced.empty()) {
    slice.pacing.announced_nothing = false;
    return true;
  }
  return is_held || AnnounceItems(slice, std::move(unannounced), scan, now, step);
}

bool Sweeper::AnnounceItems(const Slice& slice, std::vector<AnnouncedItem> unannounced,
                            DueScan& scan, const Moment& now, StepResult& step) {
  const Container& container = *slice.container;
  const auto announced = Await<absl::StatusOr<int64_t>>([&](auto done) {
    parts_.storage.feed().Announce(container.number, std::move(unannounced), std::move(done));
  });
  if (!announced.ok()) {
    log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/announce"),
             absl::StrCat("due items are not deleted, because their expiry cannot be announced: ",
                          "container=", Quoted(container.id),
                          " error=", Quoted(TextOf(announced.status()), kMaxErrorBytes)),
             now.steady);
    return false;
  }
  step.announced += *announced;
  // The next scan finds them announced. If none was, the announcer may have been faster; but that
  // they stay unannounced, because nothing may be announced now, must not keep the sweeper busy.
  const bool again = *announced > 0 || !slice.pacing.announced_nothing;
  slice.pacing.announced_nothing = *announced == 0;
  scan.more = scan.more || again;
  return true;
}

bool Sweeper::TakeOutGated(const Slice& slice, const GateView& gates, bool is_held, DueScan& scan,
                           const Moment& now, StepResult& step) {
  const Container& container = *slice.container;
  std::optional<absl::Time> announced_until;
  if (parts_.feed_progress != nullptr) {
    announced_until = parts_.feed_progress->Of(container).announced_until;
  }
  GatedItems gated = ttl::TakeOutGated(container, gates, announced_until, scan.due);
  if (is_held) return true;
  if (gated.to_set_aside.empty()) {
    slice.pacing.announced_nothing = gated.are_blocked;
    // Not again at once: what is behind so many would mostly have to be announced, too.
    if (gated.are_blocked && scan.due.empty()) scan.more = false;
    return true;
  }
  return SetAsideGated(slice, std::move(gated.to_set_aside), scan, now, step);
}

bool Sweeper::SetAsideGated(const Slice& slice, std::vector<GatedItem> gated, DueScan& scan,
                            const Moment& now, StepResult& step) {
  const Container& container = *slice.container;
  const size_t count = gated.size();
  const auto moved = Await<absl::StatusOr<int64_t>>([&](auto done) {
    parts_.storage.feed().SetAside(container.number, std::move(gated), std::move(done));
  });
  if (!moved.ok()) {
    log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/gated"),
             absl::StrCat("items that wait for subscriptions were not set aside: container=",
                          Quoted(container.id),
                          " error=", Quoted(TextOf(moved.status()), kMaxErrorBytes)),
             now.steady);
    return false;
  }
  step.tidied += *moved;
  // The others have changed, or pass now: the next scan judges them. But that they stay
  // unannounced, because nothing may be announced now, must not keep the sweeper busy.
  const bool is_rest_open = *moved < static_cast<int64_t>(count);
  const bool again = *moved > 0 || (is_rest_open && !slice.pacing.announced_nothing);
  slice.pacing.announced_nothing = *moved == 0;
  scan.more = again || (scan.more && !slice.pacing.announced_nothing);
  return true;
}

bool Sweeper::KeepPassed(const Container& container, DueScan& scan) const {
  const GateView gates = parts_.storage.feed().Gates(container);
  if (!gates.has_gates) return true;
  const size_t found = std::erase_if(scan.due, [&gates](const DueItem& item) {
    return !gates.LetsPass(item.item.expired_sequence);
  });
  scan.more = scan.more || found > 0;
  return !scan.due.empty();
}

bool Sweeper::TakeOutHeld(const Slice& slice, DueScan& scan, const Moment& now, StepResult& step) {
  const Container& container = *slice.container;
  Holds& holds = parts_.storage.holds();
  if (!holds.HasHolds(container.number)) return true;
  if (holds.HoldsAll(container.number)) {
    // Not asked about one by one, and not left in either: this hold may end before the batch is
    // sent, while others stand.
    scan.more = scan.more || !scan.due.empty();
    scan.due.clear();
    return true;
  }
  std::vector<HeldItem> held;
  std::vector<DueItem> unknown;
  absl::Status error;
  std::erase_if(scan.due, [&](const DueItem& item) {
    const absl::StatusOr<bool> is_held = holds.IsHeld(container.number, item.key);
    if (!is_held.ok()) {
      unknown.push_back(item);
      error = is_held.status();
    } else if (*is_held) {
      held.push_back({item.key, item.item.generation});
    }
    return !is_held.ok() || *is_held;
  });
  if (!unknown.empty()) {
    step.tidied += outcomes_.PutOffUnknown(container, unknown, error, slice.pacing.pace, now);
  }
  return held.empty() || SetAside(container, std::move(held), scan, now, step);
}

bool Sweeper::SetAside(const Container& container, std::vector<HeldItem> held, DueScan& scan,
                       const Moment& now, StepResult& step) {
  const size_t count = held.size();
  const auto moved = Await<absl::StatusOr<int64_t>>([&](auto done) {
    parts_.storage.holds().SetAside(container.number, std::move(held), std::move(done));
  });
  if (!moved.ok()) {
    log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/set_aside"),
             absl::StrCat("held items were not set aside: container=", Quoted(container.id),
                          " error=", Quoted(TextOf(moved.status()), kMaxErrorBytes)),
             now.steady);
    return false;
  }
  step.tidied += *moved;
  // The others have changed, or are no longer held: the next scan judges them.
  scan.more = scan.more || *moved < static_cast<int64_t>(count);
  return true;
}

// A hold ends late rather than early: by the earlier of the clocks, and only while both are sound.
void Sweeper::EndReachedHolds(const Moment& now) {
  if (!now.time.deletes_allowed) return;
  const auto ended = Await<absl::StatusOr<int64_t>>(
      [&](auto done) { parts_.storage.holds().EndReached(now.time.for_deletes, std::move(done)); });
  if (ended.ok()) return;
  log_.Log(spdlog::level::warn, "ends",
           absl::StrCat("holds whose end has come stand on: error=",
                        Quoted(TextOf(ended.status()), kMaxErrorBytes)),
           now.steady);
}

int64_t Sweeper::Tidy(const Container& container, std::vector<IndexEntry> early,
                      const Moment& now) {
  const auto tidied = Await<absl::StatusOr<int64_t>>([&](auto done) {
    parts_.storage.expiry_index().Tidy(container.number, std::move(early), std::move(done));
  });
  if (!tidied.ok()) {
    log_.Log(spdlog::level::warn, "tidy",
             absl::StrCat("early index entries were not moved: container=", Quoted(container.id),
                          " error=", Quoted(TextOf(tidied.status()), kMaxErrorBytes)),
             now.steady);
    return 0;
  }
  parts_.published.AddEarlyEntries(container.number, *tidied);
  return *tidied;
}

void Sweeper::SendCall(const Slice& slice, JudgedBatch batch, DeleteGate::Pass pass,
                       const Moment& now) {
  const int64_t count = static_cast<int64_t>(batch.items.size());
  DeleteRecord record;
  record.tally.sent = count;
  parts_.published.AddDeletes(slice.container->number, record);
  calls_.Send({.container = slice.container,
               .batch = std::move(batch),
               .pass = std::move(pass),
               .sent = now,
               .in_trouble = slice.pacing.pace.in_trouble(),
               .after_slow = slice.pacing.after_slow});
}

void Sweeper::TakeEnded(DeleteCall& call, const Moment& now) {
  Pacing& pacing = PacingOf(call.container->number, now);
  run_queue_.Wake(call.container->number);
  if (outcomes_.Take(call, {pacing.pace, pacing.suspects, pacing.after_slow}, now)) {
    calls_.KeepUntilSettled(call);
  }
  PostPace(*call.container, pacing, now);
}

void Sweeper::PostPace(const Container& container, Pacing& pacing, const Moment& now) {
  PaceView view = pacing.pace.View(now);
  if (view == pacing.posted) return;
  pacing.posted = view;
  parts_.published.PostPace(container.number, view);
}

}  // namespace ttl
