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
#include "service/base/quoted.h"
#include "service/core/adoption.h"
#include "service/core/delete_holds.h"
#include "service/core/rate_limit.h"
#include "spdlog/spdlog.h"

namespace ttl {
namespace {

constexpr size_t kMaxRequestBytes = size_t{1} << 20;
// Nothing can become due unnoticed for longer than this, even if a wake-up is missed.
constexpr absl::Duration kMaxWait = absl::Seconds(1);
// A container is looked at anew after this time at the latest, whatever the clocks do.
constexpr absl::Duration kMostSleep = absl::Seconds(30);
// Our time may differ by this from what the steady clock makes it before it counts as changed.
constexpr absl::Duration kClockStep = absl::Seconds(1);
// Bounds of a step.
constexpr int kTurnsPerStep = 1000;
constexpr int64_t kScansPerStep = 16;
constexpr size_t kEntriesPerScan = 4096;
// Upkeep of a container whose deletes are held: less and less often while it finds
// nothing to do.
constexpr absl::Duration kUpkeepInterval = absl::Seconds(10);
constexpr absl::Duration kMostUpkeepInterval = absl::Minutes(5);
constexpr int64_t kUpkeepDueItems = 256;
// The net under the low-water marks.
constexpr absl::Duration kFullScanInterval = absl::Minutes(10);

// The longest that deletes of a container may wait for something to change that nobody
// announces, such as what requests leave over.
absl::Duration LongestWait(const Container& container) {
  const bool has_budget = container.settings.request_units_per_second.has_value();
  return has_budget ? TokenBucket::kBatchInterval : kMaxWait;
}

}  // namespace

Sweeper::Sweeper(const SweeperOptions& options, const Parts& parts)
    : options_(options),
      parts_(parts),
      steady_(parts.system_clock.Read().boot.value_or(absl::ZeroDuration())),
      store_({.deadline = options.delete_deadline,
              .max_clock_skew = options.max_store_clock_skew,
              .not_found_burst_items = options.not_found_burst_items,
              .excused_items = options.batch_items * options.max_calls_under_way},
             parts.store, parts.storage.sidecar_state(), parts.trust, parts.wake),
      outcomes_(parts.storage, parts.board, store_),
      calls_(parts.store, options.max_calls_under_way, options.delete_deadline, parts.wake),
      bucket_(parts.limit.Get(), steady_, std::max<int64_t>(options.batch_items, 1)) {
  clock_offset_ = parts.clock.Read().for_deletes - absl::UnixEpoch() - steady_;
}

Sweeper::StepResult Sweeper::RunOnce() {
  StepResult step;
  TakeIn(step);
  WakeAfterClockChange(ReadMoment());
  calls_.ReleaseSettled(ReadMoment().steady);
  store_.AskIfDue(ReadMoment());
  TakeTurns(step);
  Post();
  return step;
}

void Sweeper::TakeIn(StepResult& step) {
  for (const auto& call : calls_.TakeEnded()) {
    TakeEnded(*call);
    ++step.answered;
  }
  const bool was_ready = store_.IsReady();
  if (store_.TakeInAnswer(ReadMoment())) ++step.answered;
  // Whoever waited for the store has waited long enough.
  if (!was_ready && store_.IsReady()) parts_.storage.due_changes().AddAll();
  if (step.answered > 0) Post();
}

void Sweeper::Post() {
  const Moment now = ReadMoment();
  parts_.board.PostStore(store_.View(now));
  parts_.board.PostSweeper({now.steady, calls_.count()});
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

Moment Sweeper::ReadMoment() {
  // While the reading fails time stands still here; the guarded clock allows no
  // deletes then.
  steady_ = parts_.system_clock.Read().boot.value_or(steady_);
  return {parts_.clock.Read(), steady_};
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
  agenda_.Forget(container);
  pacings_.erase(container);
  parts_.board.Forget(container);
}

void Sweeper::WakeChanged() {
  const auto changed = parts_.storage.due_changes().Take();
  if (changed.has_value()) {
    for (const uint64_t container : *changed) agenda_.Wake(container);
    return;
  }
  for (const ContainerPtr& container : parts_.storage.containers().All()) {
    agenda_.Wake(container->number);
  }
  kept_ = 0;  // the limit may be another one
}

// When a container was put to sleep, and how far the store's clock was from ours, was computed by
// the clock of then.
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

void Sweeper::TakeTurns(StepResult& step) {
  WakeChanged();
  const absl::Duration start = ReadMoment().steady;
  agenda_.WakeDue(start);
  EndKeptTurn(start);
  // The end of a call wakes the loop.
  step.wait = kMaxWait;
  if (!calls_.HasRoom()) return;
  step.wait = absl::ZeroDuration();
  scans_left_ = kScansPerStep;
  for (int turns = 0; turns < kTurnsPerStep && scans_left_ > 0; ++turns) {
    const std::optional<uint64_t> next = agenda_.Next(cursor_);
    if (!next.has_value()) {
      step.wait = TimeToWait();
      return;
    }
    cursor_ = *next;
    if (TakeTurn(*next, step)) return;
  }
}

void Sweeper::EndKeptTurn(absl::Duration now) {
  if (kept_ == 0 || now < kept_until_) return;
  cursor_ = std::exchange(kept_, 0) - 1;
}

absl::Duration Sweeper::TimeToWait() {
  const absl::Duration now = ReadMoment().steady;
  absl::Duration until = std::min({now + kMaxWait, agenda_.NextWake(), calls_.NextSettled()});
  if (!store_.IsReady() && parts_.store != nullptr) {
    until = std::min(until, store_.state().next_probe());
  }
  return std::max(until - now, absl::ZeroDuration());
}

bool Sweeper::TakeTurn(uint64_t number, StepResult& step) {
  const ContainerPtr container = parts_.storage.containers().Find(number);
  // One with a call under way is forgotten when that has ended.
  if (calls_.IsUnderWay(number)) {
    agenda_.Sleep(number, absl::InfiniteDuration());
    return false;
  }
  if (container == nullptr) {
    Forget(number);
    return false;
  }
  const Moment now = ReadMoment();
  Pacing& pacing = PacingOf(number, now);
  const NextTurn next = TakeTurnOf(container, pacing, now, step);
  PostPace(*container, pacing, now);
  if (next.sent) {
    agenda_.Sleep(number, absl::InfiniteDuration());
  } else if (next.at > now.steady) {
    agenda_.Sleep(number, next.at);
  }
  return next.sent;
}

Sweeper::NextTurn Sweeper::TakeTurnOf(const ContainerPtr& listed, Pacing& pacing, const Moment& now,
                                      StepResult& step) {
  const Turn first_look = MakeTurn(listed, pacing, now);
  const absl::Duration next_due = NextDue(first_look, now);
  if (next_due > now.steady && !first_look.full_scan) {
    pacing.pace.set_waiting_for_rate(false);
    return {std::min(next_due, pacing.next_full_scan)};
  }
  std::optional<DeleteGate::Pass> pass = parts_.storage.delete_gate().TryEnter(listed->number);
  // Read again after entering: only so is it the policy in force until we leave.
  ContainerPtr container = parts_.storage.containers().Find(listed->number);
  if (container == nullptr) return {now.steady};
  const Turn turn = MakeTurn(std::move(container), pacing, now);
  if (!MaySend(turn, pass.has_value(), now)) {
    pass.reset();
    return KeepUpIndex(turn, now, step);
  }
  const absl::Duration tokens_at = TokensAt(turn, pacing.wanted, now);
  if (tokens_at > now.steady) return {tokens_at};
  return Sweep(turn, *std::move(pass), step);
}

Sweeper::Turn Sweeper::MakeTurn(ContainerPtr container, Pacing& pacing, const Moment& now) const {
  const DueRule rule = ComputeDueRule(container->settings.policy, container->replaced_policies,
                                      now.time.for_deletes);
  return {pacing, std::move(container), rule, now.steady >= pacing.next_full_scan};
}

absl::Duration Sweeper::NextDue(const Turn& turn, const Moment& now) const {
  // The end of a grace brings things forward without anybody changing anything.
  const bool in_grace = !turn.container->replaced_policies.empty();
  const absl::Duration latest = now.steady + (in_grace ? kMaxWait : kMostSleep);
  const std::optional<int64_t> next =
      parts_.storage.expiry_index().NextDueTime(*turn.container, turn.rule);
  if (!next.has_value()) return latest;
  const absl::Time judged_at = store_.JudgeTime(now);
  if (absl::ToUnixSeconds(judged_at) >= *next) return now.steady;
  return std::min(now.steady + (absl::FromUnixSeconds(*next) - judged_at), latest);
}

bool Sweeper::MaySend(const Turn& turn, bool entered, const Moment& now) {
  const Container& container = *turn.container;
  ContainerPace& pace = turn.pacing.pace;
  const std::optional<double> own = container.settings.max_deletes_per_second;
  const std::optional<double> limit =
      own.has_value() ? own : options_.container_max_deletes_per_second;
  const std::optional<double> limit_of_all = parts_.limit.Get();
  const std::optional<DeleteBudget> budget = ComputeDeleteBudget(
      container.settings, parts_.usage.RequestRate(container.number, now.steady),
      pace.learned_cost());
  pace.Update(limit, budget, now.steady);
  bucket_.SetRate(limit_of_all, now.steady);
  const std::vector<DeleteHold> holds = ComputeDeleteHolds({
      .container = container,
      .all_paused = parts_.storage.containers().PauseOfAll(),
      .time = now.time,
      .store = store_.View(now),
      .pace = pace.View(now),
      .limit_per_second = StricterLimit(limit, limit_of_all),
      .budget = budget,
      .storage_writable = parts_.storage.OutcomeHealth().ok(),
      .change_under_way = !entered,
      .data_in_doubt = parts_.storage.data_trust().in_doubt(),
  });
  if (std::any_of(holds.begin(), holds.end(), StopsDeletes)) {
    pace.set_waiting_for_rate(false);
    return false;
  }
  return store_.IsReady() && calls_.HasRoomFor(pace.in_trouble());
}

absl::Duration Sweeper::TokensAt(const Turn& turn, int64_t count, const Moment& now) {
  ContainerPace& pace = turn.pacing.pace;
  count = std::min({count, MaxItems(turn), bucket_.BatchSize()});
  const absl::Duration own_wait = pace.TimeUntil(count, now.steady);
  const absl::Duration wait_of_all = bucket_.TimeUntil(count, now.steady);
  // Tokens of all that come in meanwhile are for the container that kept its turn.
  const bool has_tokens = own_wait + wait_of_all <= absl::ZeroDuration() && kept_ == 0;
  pace.set_waiting_for_rate(!has_tokens);
  if (has_tokens) return now.steady;
  turn.pacing.wanted = count;
  // Looked at again before that: rates change while somebody waits.
  if (own_wait > absl::ZeroDuration()) {
    return now.steady + std::min(own_wait, LongestWait(*turn.container));
  }
  if (kept_ == 0) {
    kept_ = turn.container->number;
    kept_until_ = now.steady + std::min(wait_of_all, kMaxWait);
  }
  return kept_until_;
}

Sweeper::NextTurn Sweeper::Sweep(const Turn& turn, DeleteGate::Pass pass, StepResult& step) {
  const int64_t tidied_before = step.tidied;
  Suspects& suspects = turn.pacing.suspects;
  const int64_t max_due = MaxItems(turn) + static_cast<int64_t>(suspects.size());
  std::optional<DueScan> scan = Scan(turn, max_due, step);
  if (!scan.has_value()) return {turn.pacing.pace.held_until()};
  const size_t found = scan->due.size();
  scan->due = suspects.Choose(std::move(scan->due));
  scan->more = scan->more || scan->due.size() < found;
  const Moment now = ReadMoment();
  if (!now.time.deletes_allowed) return {now.steady + kMaxWait};
  if (HasTooManyAdopted(*turn.container, scan->due, now)) return {now.steady + kMaxWait};
  const StoreState& store = store_.state();
  const BatchBounds bounds = {MaxItems(turn), kMaxRequestBytes, store.compares_etags()};
  const absl::Time judged_at = store_.JudgeTime(now);
  const absl::Time not_after = store.Now(now.steady).value_or(judged_at) + options_.delete_deadline;
  JudgedBatch batch =
      JudgeBatch(*turn.container, turn.rule, std::move(scan->due), bounds, judged_at, not_after);
  batch.request.set_store_id(store.store_id());
  const int64_t count = static_cast<int64_t>(batch.items.size());
  if (count == 0) {
    turn.pacing.pace.set_waiting_for_rate(false);
    if (scan->more || step.tidied > tidied_before) return {now.steady};
    if (IsPassComplete(turn, *scan, judged_at)) {
      parts_.board.PostCompletePass(turn.container->number, now.time.now);
    }
    // The scan has found out what comes next. What it could not read is left for later.
    const absl::Duration next_due = NextDue(turn, now);
    return {next_due > now.steady ? next_due : now.steady + kMaxWait};
  }
  const absl::Duration tokens_at = TokensAt(turn, count, now);
  if (tokens_at > now.steady) return {tokens_at};

  turn.pacing.wanted = scan->more ? count : 1;
  turn.pacing.pace.Take(count, now.steady);
  bucket_.Take(count, now.steady);
  step.sent += count;
  Send(turn, std::move(batch), std::move(pass), now);
  return {.at = now.steady, .sent = true};
}

// A scan that found nothing due is a complete pass, unless something due was left for later.
bool Sweeper::IsPassComplete(const Turn& turn, const DueScan& scan, absl::Time judged_at) const {
  if (scan.unreadable > 0) return false;
  return !parts_.storage.expiry_index()
              .HasRetries(*turn.container, turn.rule, absl::ToUnixSeconds(judged_at))
              .value_or(true);
}

// Decided when the first of them would go, so that it goes by as much of the run as there is.
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
    spdlog::warn("brake pulled: container={} adopted_items={}", container.id,
                 AdoptedItemsToConfirm(container, tallies.Adopted(number)));
  }
  return !pulled.ok() || *pulled;
}

int64_t Sweeper::MaxItems(const Turn& turn) const {
  return std::min({turn.pacing.pace.MaxItems(), store_.state().MaxBatchItems(options_.batch_items),
                   bucket_.BatchSize()});
}

Sweeper::NextTurn Sweeper::KeepUpIndex(const Turn& turn, const Moment& now, StepResult& step) {
  Pacing& pacing = turn.pacing;
  absl::Duration again = now.steady + LongestWait(*turn.container);
  if (const absl::Duration held = pacing.pace.held_until(); held > now.steady) {
    again = std::min(again, held);
  }
  if (now.steady < pacing.next_upkeep) return {again};
  const int64_t tidied_before = step.tidied;
  const std::optional<DueScan> scan = Scan(turn, kUpkeepDueItems, step);
  if (!scan.has_value()) return {again};
  const bool tidied = step.tidied > tidied_before;
  if (scan->more && tidied) return {now.steady};
  pacing.upkeep_interval =
      tidied ? kUpkeepInterval : std::min(2 * pacing.upkeep_interval, kMostUpkeepInterval);
  pacing.next_upkeep = now.steady + pacing.upkeep_interval;
  return {again};
}

std::optional<DueScan> Sweeper::Scan(const Turn& turn, int64_t max_due, StepResult& step) {
  --scans_left_;
  const Container& container = *turn.container;
  const Moment now = ReadMoment();
  const ScanLimits limits = {static_cast<size_t>(max_due), kEntriesPerScan, turn.full_scan};
  absl::StatusOr<DueScan> scan = parts_.storage.expiry_index().ScanDue(
      container, turn.rule, absl::ToUnixSeconds(store_.JudgeTime(now)), limits);
  if (!scan.ok()) {
    turn.pacing.pace.Hold(ContainerPace::kFirstSlowHold, ContainerPace::kMostSlowHold, now);
    turn.pacing.next_upkeep = now.steady + kUpkeepInterval;
    log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/scan"),
             absl::StrCat("expiry index cannot be read: container=", Quoted(container.id),
                          " error=", Quoted(scan.status().ToString(), kMaxErrorBytes)),
             steady_);
    return std::nullopt;
  }
  if (scan->unreadable > 0) {
    log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/unreadable"),
             absl::StrCat("due items are unreadable and are not deleted: container=",
                          Quoted(container.id), " items=", scan->unreadable),
             steady_);
  }
  if (turn.full_scan) turn.pacing.next_full_scan = now.steady + kFullScanInterval;
  if (!scan->early.empty()) {
    const int64_t tidied = Tidy(container, std::move(scan->early));
    step.tidied += tidied;
  }
  return *std::move(scan);
}

int64_t Sweeper::Tidy(const Container& container, std::vector<IndexEntry> early) {
  const auto tidied = Await<absl::StatusOr<int64_t>>([&](auto done) {
    parts_.storage.expiry_index().Tidy(container.number, std::move(early), std::move(done));
  });
  if (!tidied.ok()) {
    log_.Log(spdlog::level::warn, "tidy",
             absl::StrCat("early index entries stay for now: container=", Quoted(container.id),
                          " error=", Quoted(tidied.status().ToString(), kMaxErrorBytes)),
             steady_);
    return 0;
  }
  parts_.board.AddEarlyEntries(container.number, *tidied);
  return *tidied;
}

void Sweeper::Send(const Turn& turn, JudgedBatch batch, DeleteGate::Pass pass, const Moment& now) {
  const int64_t count = static_cast<int64_t>(batch.items.size());
  DeleteRecord record;
  record.tally.sent = count;
  parts_.board.AddDeletes(turn.container->number, record);
  calls_.Send({.container = turn.container,
               .batch = std::move(batch),
               .pass = std::move(pass),
               .sent = now,
               .in_trouble = turn.pacing.pace.in_trouble()});
}

void Sweeper::TakeEnded(DeleteCall& call) {
  const Moment now = ReadMoment();
  Pacing& pacing = PacingOf(call.container->number, now);
  agenda_.Wake(call.container->number);
  if (outcomes_.Take(call, {pacing.pace, pacing.suspects}, now)) calls_.KeepUntilSettled(call);
  PostPace(*call.container, pacing, now);
}

void Sweeper::PostPace(const Container& container, Pacing& pacing, const Moment& now) {
  PaceView view = pacing.pace.View(now);
  if (view == pacing.posted) return;
  pacing.posted = view;
  parts_.board.PostPace(container.number, view);
}

}  // namespace ttl
