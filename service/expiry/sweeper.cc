#include "service/expiry/sweeper.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/core/delete_holds.h"
#include "service/core/status_macros.h"
#include "service/expiry/retry_delay.h"
#include "service/storage/done.h"
#include "spdlog/spdlog.h"

namespace ttl {
namespace {

constexpr size_t kMaxRequestBytes = size_t{1} << 20;
// Nothing can become due unnoticed for longer than this, even if a wake-up is missed.
constexpr absl::Duration kMaxWait = absl::Seconds(1);
// Added to a not_after for the little that the store's clock may be slow by.
constexpr absl::Duration kSettleMargin = absl::Milliseconds(250);
// Bounds of a step.
constexpr size_t kContainersPerStep = 1000;
constexpr int64_t kScansPerStep = 16;
constexpr size_t kEntriesPerScan = 4096;
// Upkeep of a container whose deletes are held.
constexpr absl::Duration kUpkeepInterval = absl::Seconds(10);
constexpr int64_t kUpkeepDueItems = 256;
// The net under the low-water marks.
constexpr absl::Duration kFullScanInterval = absl::Minutes(10);
// Holds of one container after a call failed as a whole: short ones if the store just
// refused it, long ones if it cost the store's time.
constexpr absl::Duration kFirstRefusedHold = absl::Milliseconds(100);
constexpr absl::Duration kMostRefusedHold = absl::Seconds(1);
constexpr absl::Duration kFirstSlowHold = absl::Seconds(1);
constexpr absl::Duration kMostSlowHold = absl::Seconds(30);
constexpr absl::Duration kLogInterval = absl::Seconds(10);

std::optional<double> LesserRate(std::optional<double> a, std::optional<double> b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return std::min(*a, *b);
}

std::string Show(const ItemKey& key) {
  constexpr size_t kMaxShownBytes = 64;
  return absl::StrCat("\"", absl::CHexEscape(key.partition_key.substr(0, kMaxShownBytes)), "\"/\"",
                      absl::CHexEscape(key.id.substr(0, kMaxShownBytes)), "\"");
}

// Deletes of ours can be told from those of users by these lines, and each one with
// all that it was decided by.
void LogDeletes(const Container& container, const v1::DeleteItemsRequest& request,
                const v1::DeleteItemsResponse& response, const DeleteTally& tally) {
  spdlog::debug(
      "deletes by TTL expiry: container={} incarnation={} revision={} sent={} deleted={} "
      "not_found={} modified={} not_expired={} throttled={} failed={} unanswered={}",
      container.id, container.number, container.revision, request.items_size(), tally.deleted,
      tally.not_found, tally.modified, tally.not_expired, tally.throttled, tally.failed,
      tally.unanswered);
  if (!spdlog::should_log(spdlog::level::trace)) return;
  const int count = std::min(request.items_size(), response.results_size());
  for (int i = 0; i < count; ++i) {
    const v1::ExpiredItem& item = request.items(i);
    spdlog::trace("delete by TTL expiry: container={} item={} ts={} ttl={} source={} result={}",
                  container.id, Show({item.partition_key(), item.id()}), item.ts(),
                  item.effective_ttl(), v1::TtlSource_Name(item.ttl_source()),
                  v1::DeleteOutcome_Name(response.results(i).outcome()));
  }
}

}  // namespace

Sweeper::Sweeper(const SweeperOptions& options, const Clock& system_clock,
                 const GuardedClock& clock, Storage& storage, PrimaryStoreClient* store,
                 SweepBoard& board)
    : options_(options),
      system_clock_(system_clock),
      clock_(clock),
      storage_(storage),
      store_(store),
      board_(board),
      steady_(system_clock.Read().boot.value_or(absl::ZeroDuration())),
      store_state_(options.max_store_clock_skew),
      bucket_(options.max_deletes_per_second, steady_, std::max<int64_t>(options.batch_items, 1)),
      log_limiter_(kLogInterval) {}

Sweeper::StepResult Sweeper::RunOnce() {
  StepResult step;
  ReleaseSettledPasses();
  if (store_ != nullptr) RefreshStore();
  TakeTurns(step);
  board_.PostStore(store_state_.View(store_ != nullptr, ReadMoment()));
  return step;
}

Moment Sweeper::ReadMoment() {
  // While the reading fails time stands still here; the guarded clock allows no
  // deletes then.
  steady_ = system_clock_.Read().boot.value_or(steady_);
  return {clock_.Read(), steady_};
}

absl::Time Sweeper::JudgeTime(const Moment& now) const {
  const absl::Time ours = now.time.for_deletes;
  return std::min(ours, store_state_.Now(now.steady).value_or(ours));
}

std::optional<double> Sweeper::RateOf(const Container& container) const {
  const std::optional<double> own = container.settings.max_deletes_per_second;
  return own.has_value() ? own : options_.container_max_deletes_per_second;
}

Sweeper::Pacing& Sweeper::PacingOf(const Container& container, const Moment& now) {
  const int64_t max_batch = std::max<int64_t>(options_.batch_items, 1);
  const auto [it, is_new] =
      pacings_.try_emplace(container.number, TokenBucket(RateOf(container), now.steady, max_batch),
                           std::max<int64_t>(options_.batch_items, 1));
  if (is_new) it->second.next_full_scan = now.steady + kFullScanInterval;
  it->second.round = round_;
  return it->second;
}

void Sweeper::ReleaseSettledPasses() {
  const absl::Duration steady = ReadMoment().steady;
  while (!unsettled_.empty() && unsettled_.front().settled <= steady) unsettled_.pop_front();
}

void Sweeper::RefreshStore() {
  const Moment sent = ReadMoment();
  if (store_state_.IsHeld(sent.steady) || !store_state_.IsInfoDue(sent.steady)) return;
  const auto info = store_->GetStoreInfo(options_.delete_deadline);
  const Moment received = ReadMoment();
  absl::Status error = info.status();
  if (error.ok()) error = StoreState::ValidateInfo(*info);
  if (error.ok()) error = CheckStoreIdentity(info->store_id());
  if (error.ok()) {
    store_state_.TakeInfo(*info, sent, received);
    return;
  }
  store_state_.TakeError(error, info.ok(), /*hold=*/true, received);
  if (absl::IsCancelled(error)) return;  // we are stopping
  // Another store than before needs an operator.
  const auto level =
      absl::IsFailedPrecondition(error) && info.ok() ? spdlog::level::err : spdlog::level::warn;
  LogTrouble(level, "store",
             absl::StrCat("deletes wait for the primary store: ", error.ToString()));
}

absl::Status Sweeper::CheckStoreIdentity(const std::string& store_id) {
  SidecarState& state = storage_.sidecar_state();
  TTL_ASSIGN_OR_RETURN(const std::optional<std::string> known, state.LoadStoreId());
  if (!known.has_value()) {
    return Await<absl::Status>([&](auto done) { state.SaveStoreId(store_id, std::move(done)); });
  }
  if (*known == store_id) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the store's store_id is \"", absl::CHexEscape(store_id),
                   "\", but the tracked items belong to \"", absl::CHexEscape(*known),
                   "\": deletes are suspended; connect the sidecar to that store, or start it with "
                   "an empty data directory and report the items anew"));
}

void Sweeper::TakeTurns(StepResult& step) {
  scans_left_ = kScansPerStep;
  const std::vector<ContainerPtr> containers = NextContainers();
  for (const ContainerPtr& container : containers) {
    if (scans_left_ <= 0) return;
    cursor_ = container->id;
    if (TakeTurn(*container, step) == TurnEnd::kSent) return;
  }
  if (containers.size() >= kContainersPerStep) return;
  const absl::Duration now = ReadMoment().steady;
  WakeAt(now + kMaxWait);
  if (store_state_.IsHeld(now)) WakeAt(store_state_.held_until());
  if (!unsettled_.empty()) WakeAt(unsettled_.front().settled);
  step.wait = std::max(wake_at_ - now, absl::ZeroDuration());
  EndRound();
}

std::vector<ContainerPtr> Sweeper::NextContainers() {
  std::vector<ContainerPtr> next;
  if (!first_.empty()) {
    cursor_ = std::exchange(first_, std::string());
    if (ContainerPtr first = storage_.containers().Find(cursor_)) next.push_back(std::move(first));
  }
  for (ContainerPtr& container : storage_.containers().List(cursor_, kContainersPerStep)) {
    next.push_back(std::move(container));
  }
  return next;
}

void Sweeper::EndRound() {
  if (round_is_whole_) ForgetGoneContainers();
  ++round_;
  first_ = std::exchange(kept_, std::string());
  round_is_whole_ = first_.empty();
  cursor_.clear();
  wake_at_ = absl::InfiniteDuration();
}

void Sweeper::ForgetGoneContainers() {
  absl::erase_if(pacings_, [this](const auto& entry) {
    const bool gone = entry.second.round != round_;
    if (gone) board_.Forget(entry.first);
    return gone;
  });
}

Sweeper::TurnEnd Sweeper::TakeTurn(const Container& listed, StepResult& step) {
  const Moment now = ReadMoment();
  const Turn first_look = MakeTurn(listed, now);
  const absl::Duration until_due = TimeUntilDue(first_look, now);
  if (until_due > absl::ZeroDuration() && !first_look.full_scan) {
    WakeAt(now.steady + until_due);
    SetWaitingForRate(first_look, false);
    return TurnEnd::kNothingSent;
  }
  std::optional<DeleteGate::Pass> pass = storage_.delete_gate().TryEnter(listed.number);
  // Read again after entering: only so is it the policy in force until we leave.
  const ContainerPtr container = storage_.containers().Find(listed.id);
  if (container == nullptr || container->number != listed.number) return TurnEnd::kNothingSent;
  const Turn turn = MakeTurn(*container, now);
  if (MaySend(turn, pass.has_value(), now) && HasTokens(turn, turn.pacing.wanted, now)) {
    return Sweep(turn, *std::move(pass), step);
  }
  pass.reset();
  if (now.steady >= turn.pacing.next_upkeep) KeepUpIndex(turn, step);
  return TurnEnd::kNothingSent;
}

Sweeper::Turn Sweeper::MakeTurn(const Container& container, const Moment& now) {
  Pacing& pacing = PacingOf(container, now);
  return {
      pacing, container,
      ComputeDueRule(container.settings.policy, container.replaced_policies, now.time.for_deletes),
      now.steady >= pacing.next_full_scan};
}

absl::Duration Sweeper::TimeUntilDue(const Turn& turn, const Moment& now) const {
  const std::optional<int64_t> next =
      storage_.expiry_index().NextDueTime(turn.container, turn.rule);
  if (!next.has_value()) return absl::InfiniteDuration();
  const absl::Time judged_at = JudgeTime(now);
  if (absl::ToUnixSeconds(judged_at) >= *next) return absl::ZeroDuration();
  return absl::FromUnixSeconds(*next) - judged_at;
}

bool Sweeper::MaySend(const Turn& turn, bool entered, const Moment& now) {
  const std::optional<Pause> all_paused = storage_.containers().PauseOfAll();
  const StoreView store = store_state_.View(store_ != nullptr, now);
  const std::vector<DeleteHold> holds = ComputeDeleteHolds({
      .container = turn.container,
      .all_paused = all_paused,
      .time = now.time,
      .store = store,
      .allowed_per_second = LesserRate(RateOf(turn.container), options_.max_deletes_per_second),
      .storage_writable = storage_.WriteHealth().ok(),
      .change_under_way = !entered,
  });
  if (std::any_of(holds.begin(), holds.end(), StopsDeletes)) {
    SetWaitingForRate(turn, false);
    return false;
  }
  if (now.steady >= turn.pacing.held_until) return true;
  WakeAt(turn.pacing.held_until);
  return false;
}

bool Sweeper::HasTokens(const Turn& turn, int64_t count, const Moment& now) {
  TokenBucket& own = turn.pacing.bucket;
  own.SetRate(RateOf(turn.container), now.steady);
  count = std::min({count, own.BatchSize(), bucket_.BatchSize()});
  const absl::Duration own_wait = own.TimeUntil(count, now.steady);
  const absl::Duration wait_of_all = bucket_.TimeUntil(count, now.steady);
  // Tokens of all that come in meanwhile are for the container that kept its turn.
  if (own_wait + wait_of_all <= absl::ZeroDuration() && kept_.empty()) return true;

  turn.pacing.wanted = count;
  SetWaitingForRate(turn, true);
  if (own_wait > absl::ZeroDuration()) {
    WakeAt(now.steady + own_wait);
  } else if (kept_.empty()) {
    kept_ = turn.container.id;
    WakeAt(now.steady + wait_of_all);
  }
  return false;
}

Sweeper::TurnEnd Sweeper::Sweep(const Turn& turn, DeleteGate::Pass pass, StepResult& step) {
  std::optional<DueScan> scan = Scan(turn, MaxItems(turn), step);
  if (!scan.has_value()) return TurnEnd::kNothingSent;
  const Moment now = ReadMoment();
  if (!now.time.deletes_allowed) return TurnEnd::kNothingSent;
  const BatchBounds bounds = {MaxItems(turn), kMaxRequestBytes, store_state_.compares_etags()};
  const absl::Time judged_at = JudgeTime(now);
  const absl::Time not_after =
      store_state_.Now(now.steady).value_or(judged_at) + options_.delete_deadline;
  const JudgedBatch batch =
      JudgeBatch(turn.container, turn.rule, std::move(scan->due), bounds, judged_at, not_after);
  const int64_t count = static_cast<int64_t>(batch.items.size());
  if (count == 0) {
    SetWaitingForRate(turn, false);
    // The scan has found out what comes next.
    const absl::Duration until_due = TimeUntilDue(turn, now);
    if (until_due > absl::ZeroDuration()) WakeAt(now.steady + until_due);
    return TurnEnd::kNothingSent;
  }
  if (!HasTokens(turn, count, now)) return TurnEnd::kNothingSent;

  SetWaitingForRate(turn, false);
  turn.pacing.wanted = scan->more ? count : 1;
  turn.pacing.bucket.Take(count, now.steady);
  bucket_.Take(count, now.steady);
  step.sent += count;
  Send(turn, batch, std::move(pass), now);
  WakeAt(now.steady);
  return TurnEnd::kSent;
}

int64_t Sweeper::MaxItems(const Turn& turn) const {
  return std::min({turn.pacing.batch_limit.Get(), store_state_.MaxBatchItems(options_.batch_items),
                   turn.pacing.bucket.BatchSize(), bucket_.BatchSize()});
}

void Sweeper::KeepUpIndex(const Turn& turn, StepResult& step) {
  const int64_t tidied_before = step.tidied;
  const std::optional<DueScan> scan = Scan(turn, kUpkeepDueItems, step);
  const bool goes_on = scan.has_value() && scan->more && step.tidied > tidied_before;
  turn.pacing.next_upkeep = goes_on ? steady_ : steady_ + kUpkeepInterval;
}

std::optional<DueScan> Sweeper::Scan(const Turn& turn, int64_t max_due, StepResult& step) {
  --scans_left_;
  const Moment now = ReadMoment();
  const ScanLimits limits = {static_cast<size_t>(max_due), kEntriesPerScan, turn.full_scan};
  absl::StatusOr<DueScan> scan = storage_.expiry_index().ScanDue(
      turn.container, turn.rule, absl::ToUnixSeconds(JudgeTime(now)), limits);
  if (!scan.ok()) {
    Hold(turn.pacing, kFirstSlowHold, kMostSlowHold);
    turn.pacing.next_upkeep = now.steady + kUpkeepInterval;
    LogTrouble(spdlog::level::warn, absl::StrCat(turn.container.id, "/scan"),
               absl::StrCat("container ", turn.container.id,
                            ": its expiry index cannot be read: ", scan.status().ToString()));
    return std::nullopt;
  }
  if (scan->unreadable > 0) {
    LogTrouble(spdlog::level::warn, absl::StrCat(turn.container.id, "/unreadable"),
               absl::StrCat("container ", turn.container.id, ": ", scan->unreadable,
                            " due items are unreadable and are not deleted"));
  }
  if (turn.full_scan) turn.pacing.next_full_scan = now.steady + kFullScanInterval;
  if (!scan->early.empty()) {
    const int64_t tidied = Tidy(turn.container, std::move(scan->early));
    step.tidied += tidied;
    if (tidied > 0) WakeAt(now.steady);
  }
  return *std::move(scan);
}

int64_t Sweeper::Tidy(const Container& container, std::vector<IndexEntry> early) {
  const auto tidied = Await<absl::StatusOr<int64_t>>([&](auto done) {
    storage_.expiry_index().Tidy(container.number, std::move(early), std::move(done));
  });
  if (!tidied.ok()) {
    LogTrouble(spdlog::level::warn, "tidy",
               absl::StrCat("container ", container.id,
                            ": early index entries stay for now: ", tidied.status().ToString()));
    return 0;
  }
  board_.AddEarlyEntries(container.number, *tidied);
  return *tidied;
}

void Sweeper::Send(const Turn& turn, const JudgedBatch& batch, DeleteGate::Pass pass,
                   const Moment& now) {
  board_.AddDeletes(turn.container.number, {.sent = static_cast<int64_t>(batch.items.size())});
  const auto response = store_->DeleteItems(batch.request, options_.delete_deadline);
  if (response.ok()) {
    TakeResponse(turn, batch, *response, now);
    return;
  }
  unsettled_.push_back({std::move(pass), now.steady + options_.delete_deadline + kSettleMargin});
  TakeCallError(turn, batch, response.status());
}

void Sweeper::TakeResponse(const Turn& turn, const JudgedBatch& batch,
                           const v1::DeleteItemsResponse& response, const Moment& sent) {
  const Moment received = ReadMoment();
  StoreAnswers answers = ReadAnswers(batch.items, batch.request, response, JudgeTime(received));
  store_state_.TakeAnswer(response, answers.tally.throttled > 0, sent, received);
  turn.pacing.failures = 0;
  turn.pacing.batch_limit.Grow();
  LogDeletes(turn.container, batch.request, response, answers.tally);
  TakeAnswers(turn, std::move(answers));
}

void Sweeper::TakeCallError(const Turn& turn, const JudgedBatch& batch, const absl::Status& error) {
  const Moment now = ReadMoment();
  const int64_t count = static_cast<int64_t>(batch.items.size());
  const bool answered =
      !absl::IsUnavailable(error) && !absl::IsDeadlineExceeded(error) && !absl::IsCancelled(error);
  const bool is_push_back = absl::IsResourceExhausted(error);
  store_state_.TakeError(error, answered, /*hold=*/!answered || is_push_back, now);
  turn.pacing.batch_limit.Shrink(count);
  if (!absl::IsCancelled(error)) {
    LogTrouble(spdlog::level::warn,
               absl::StrCat(turn.container.id, "/", absl::StatusCodeToString(error.code())),
               absl::StrCat("container ", turn.container.id, ": a batch of ", count,
                            " deletes failed: ", error.ToString()));
  }
  if (absl::IsDeadlineExceeded(error)) Hold(turn.pacing, kFirstSlowHold, kMostSlowHold);

  // What a batch of one fails by may be the fault of that one item.
  if (count > 1 || is_push_back || absl::IsCancelled(error)) {
    board_.AddDeletes(turn.container.number, {.unanswered = count});
    return;
  }
  if (answered) Hold(turn.pacing, kFirstRefusedHold, kMostRefusedHold);
  TakeAnswers(turn, BlameItem(batch.items.front(), error.ToString(), JudgeTime(now)));
}

void Sweeper::TakeAnswers(const Turn& turn, StoreAnswers answers) {
  const Container& container = turn.container;
  board_.AddDeletes(container.number, answers.tally);
  if (const auto& failure = answers.first_failure) {
    LogTrouble(spdlog::level::warn, absl::StrCat(container.id, "/", failure->reason),
               absl::StrCat("container ", container.id, ": item ", Show(failure->key),
                            " could not be deleted and is tried again later: ", failure->reason));
  }
  if (answers.reports.empty()) return;
  const auto applied = Await<absl::StatusOr<int64_t>>([&](auto done) {
    storage_.expiry_index().ApplyOutcomes(container.number, std::move(answers.reports),
                                          std::move(done));
  });
  if (applied.ok()) return;
  Hold(turn.pacing, kFirstSlowHold, kMostSlowHold);
  LogTrouble(spdlog::level::warn, "outcomes",
             absl::StrCat("container ", container.id,
                          ": outcomes of deletes are lost, "
                          "they are asked for again: ",
                          applied.status().ToString()));
}

void Sweeper::Hold(Pacing& pacing, absl::Duration first, absl::Duration most) {
  ++pacing.failures;
  pacing.held_until =
      std::max(pacing.held_until, steady_ + GrowingDelay(pacing.failures, first, most));
}

void Sweeper::SetWaitingForRate(const Turn& turn, bool waiting) {
  if (std::exchange(turn.pacing.waiting_for_rate, waiting) == waiting) return;
  board_.SetWaitingForRate(turn.container.number, waiting);
}

void Sweeper::WakeAt(absl::Duration steady) { wake_at_ = std::min(wake_at_, steady); }

void Sweeper::LogTrouble(spdlog::level::level_enum level, const std::string& kind,
                         const std::string& line) {
  const std::optional<int64_t> left_out = log_limiter_.Admit(kind, steady_);
  if (!left_out.has_value()) return;
  if (*left_out == 0) {
    spdlog::log(level, "{}", line);
  } else {
    spdlog::log(level, "{} ({} similar lines left out)", line, *left_out);
  }
}

}  // namespace ttl
