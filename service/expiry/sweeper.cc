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
#include "service/expiry/proto_time.h"
#include "service/expiry/retry_info.h"
#include "service/storage/done.h"
#include "spdlog/spdlog.h"

namespace ttl {
namespace {

constexpr size_t kMaxRequestBytes = size_t{1} << 20;
// Nothing can become due unnoticed for longer than this, even if a wake-up is missed.
constexpr absl::Duration kMaxWait = absl::Seconds(1);
// Bounds of a step.
constexpr size_t kContainersPerStep = 1000;
constexpr int64_t kScansPerStep = 16;
constexpr size_t kEntriesPerScan = 4096;
// Upkeep of a container whose deletes are held: less and less often while it finds
// nothing to do.
constexpr absl::Duration kUpkeepInterval = absl::Seconds(10);
constexpr absl::Duration kMostUpkeepInterval = absl::Minutes(5);
constexpr int64_t kUpkeepDueItems = 256;
// The net under the low-water marks.
constexpr absl::Duration kFullScanInterval = absl::Minutes(10);

std::optional<double> LesserRate(std::optional<double> a, std::optional<double> b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return std::min(*a, *b);
}

std::string Show(const ItemKey& key) {
  constexpr size_t kMaxShownBytes = 64;
  return absl::StrCat("\"", absl::CHexEscape(key.partition_key.substr(0, kMaxShownBytes)), "\"/\"",
                      absl::CHexEscape(key.id.substr(0, kMaxShownBytes)), "\"");
}

// Whether the store itself answered, so that it can be reached.
bool IsAnswered(const absl::Status& error) {
  return !absl::IsUnavailable(error) && !absl::IsDeadlineExceeded(error) &&
         !absl::IsCancelled(error);
}

ContainerPace::Failure FailureOf(const absl::Status& error) {
  if (absl::IsDeadlineExceeded(error)) return ContainerPace::Failure::kSlow;
  const bool is_push_back = absl::IsResourceExhausted(error) || absl::IsUnavailable(error);
  return is_push_back ? ContainerPace::Failure::kPushBack : ContainerPace::Failure::kRefused;
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

Sweeper::Sweeper(const SweeperOptions& options, const Parts& parts)
    : options_(options),
      parts_(parts),
      steady_(parts.system_clock.Read().boot.value_or(absl::ZeroDuration())),
      store_({.deadline = options.delete_deadline,
              .max_clock_skew = options.max_store_clock_skew,
              .not_found_burst_items = options.not_found_burst_items},
             parts.store, parts.storage.sidecar_state(), parts.trust, parts.wake),
      calls_(parts.store, options.max_calls_under_way, options.delete_deadline, parts.wake),
      bucket_(parts.limit.Get(), steady_, std::max<int64_t>(options.batch_items, 1)) {}

Sweeper::StepResult Sweeper::RunOnce() {
  StepResult step;
  TakeIn(step);
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
  if (store_.TakeInAnswer(ReadMoment())) ++step.answered;
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

absl::Time Sweeper::JudgeTime(const Moment& now) const {
  const absl::Time ours = now.time.for_deletes;
  return std::min(ours, store_.state().Now(now.steady).value_or(ours));
}

Sweeper::Pacing& Sweeper::PacingOf(const Container& container, const Moment& now) {
  const auto [it, is_new] = pacings_.try_emplace(
      container.number, std::max<int64_t>(options_.batch_items, 1), now.steady);
  Pacing& pacing = it->second;
  if (is_new) {
    pacing.next_full_scan = now.steady + kFullScanInterval;
    pacing.upkeep_interval = kUpkeepInterval;
  }
  pacing.round = round_;
  return pacing;
}

void Sweeper::TakeTurns(StepResult& step) {
  const absl::Duration start = ReadMoment().steady;
  // The end of a call wakes the loop.
  step.wait = kMaxWait;
  if (!calls_.HasRoom()) return;
  step.wait = absl::ZeroDuration();
  scans_left_ = kScansPerStep;
  const std::vector<ContainerPtr> containers = NextContainers();
  for (const ContainerPtr& container : containers) {
    if (scans_left_ <= 0) return;
    cursor_ = container->id;
    if (TakeTurn(container, step) == TurnEnd::kSent) return;
  }
  if (containers.size() >= kContainersPerStep) return;
  WakeAt(start + kMaxWait);
  if (!store_.IsReady() && parts_.store != nullptr) WakeAt(store_.state().next_probe());
  WakeAt(calls_.NextSettled());
  step.wait = std::max(wake_at_ - ReadMoment().steady, absl::ZeroDuration());
  EndRound();
}

std::vector<ContainerPtr> Sweeper::NextContainers() {
  std::vector<ContainerPtr> next;
  const Containers& containers = parts_.storage.containers();
  if (!first_.empty()) {
    cursor_ = std::exchange(first_, std::string());
    if (ContainerPtr first = containers.Find(cursor_)) next.push_back(std::move(first));
  }
  for (ContainerPtr& container : containers.List(cursor_, kContainersPerStep)) {
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
    const bool gone = entry.second.round != round_ && !calls_.IsUnderWay(entry.first);
    if (gone) parts_.board.Forget(entry.first);
    return gone;
  });
}

Sweeper::TurnEnd Sweeper::TakeTurn(const ContainerPtr& listed, StepResult& step) {
  const Moment now = ReadMoment();
  const Turn first_look = MakeTurn(listed, now);
  if (calls_.IsUnderWay(listed->number)) return TurnEnd::kNothingSent;
  const absl::Duration until_due = TimeUntilDue(first_look, now);
  if (until_due > absl::ZeroDuration() && !first_look.full_scan) {
    WakeAt(now.steady + until_due);
    first_look.pacing.pace.set_waiting_for_rate(false);
    PostPace(*listed, first_look.pacing, now);
    return TurnEnd::kNothingSent;
  }
  std::optional<DeleteGate::Pass> pass = parts_.storage.delete_gate().TryEnter(listed->number);
  // Read again after entering: only so is it the policy in force until we leave.
  ContainerPtr container = parts_.storage.containers().Find(listed->id);
  if (container == nullptr || container->number != listed->number) return TurnEnd::kNothingSent;
  const Turn turn = MakeTurn(std::move(container), now);
  TurnEnd end = TurnEnd::kNothingSent;
  if (MaySend(turn, pass.has_value(), now) && HasTokens(turn, turn.pacing.wanted, now)) {
    end = Sweep(turn, *std::move(pass), step);
  } else {
    pass.reset();
    if (now.steady >= turn.pacing.next_upkeep) KeepUpIndex(turn, step);
  }
  PostPace(*turn.container, turn.pacing, now);
  return end;
}

Sweeper::Turn Sweeper::MakeTurn(ContainerPtr container, const Moment& now) {
  Pacing& pacing = PacingOf(*container, now);
  const DueRule rule = ComputeDueRule(container->settings.policy, container->replaced_policies,
                                      now.time.for_deletes);
  return {pacing, std::move(container), rule, now.steady >= pacing.next_full_scan};
}

absl::Duration Sweeper::TimeUntilDue(const Turn& turn, const Moment& now) const {
  const std::optional<int64_t> next =
      parts_.storage.expiry_index().NextDueTime(*turn.container, turn.rule);
  if (!next.has_value()) return absl::InfiniteDuration();
  const absl::Time judged_at = JudgeTime(now);
  if (absl::ToUnixSeconds(judged_at) >= *next) return absl::ZeroDuration();
  return absl::FromUnixSeconds(*next) - judged_at;
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
      .limit_per_second = LesserRate(limit, limit_of_all),
      .budget = budget,
      .storage_writable = parts_.storage.WriteHealth().ok(),
      .change_under_way = !entered,
  });
  if (pace.held_until() > now.steady) WakeAt(pace.held_until());
  if (std::any_of(holds.begin(), holds.end(), StopsDeletes)) {
    pace.set_waiting_for_rate(false);
    return false;
  }
  return store_.IsReady() && calls_.HasRoomFor(pace.in_trouble());
}

bool Sweeper::HasTokens(const Turn& turn, int64_t count, const Moment& now) {
  ContainerPace& pace = turn.pacing.pace;
  count = std::min({count, MaxItems(turn), bucket_.BatchSize()});
  const absl::Duration own_wait = pace.TimeUntil(count, now.steady);
  const absl::Duration wait_of_all = bucket_.TimeUntil(count, now.steady);
  // Tokens of all that come in meanwhile are for the container that kept its turn.
  const bool has_tokens = own_wait + wait_of_all <= absl::ZeroDuration() && kept_.empty();
  pace.set_waiting_for_rate(!has_tokens);
  if (has_tokens) return true;
  turn.pacing.wanted = count;
  if (own_wait > absl::ZeroDuration()) {
    WakeAt(now.steady + own_wait);
  } else if (kept_.empty()) {
    kept_ = turn.container->id;
    WakeAt(now.steady + wait_of_all);
  }
  return false;
}

Sweeper::TurnEnd Sweeper::Sweep(const Turn& turn, DeleteGate::Pass pass, StepResult& step) {
  std::optional<DueScan> scan = Scan(turn, MaxItems(turn), step);
  if (!scan.has_value()) return TurnEnd::kNothingSent;
  const Moment now = ReadMoment();
  if (!now.time.deletes_allowed) return TurnEnd::kNothingSent;
  const StoreState& store = store_.state();
  const BatchBounds bounds = {MaxItems(turn), kMaxRequestBytes, store.compares_etags()};
  const absl::Time judged_at = JudgeTime(now);
  const absl::Time not_after = store.Now(now.steady).value_or(judged_at) + options_.delete_deadline;
  JudgedBatch batch =
      JudgeBatch(*turn.container, turn.rule, std::move(scan->due), bounds, judged_at, not_after);
  const int64_t count = static_cast<int64_t>(batch.items.size());
  if (count == 0) {
    turn.pacing.pace.set_waiting_for_rate(false);
    if (!scan->more) parts_.board.PostCompletePass(turn.container->number, now.time.now);
    // The scan has found out what comes next.
    const absl::Duration until_due = TimeUntilDue(turn, now);
    if (until_due > absl::ZeroDuration()) WakeAt(now.steady + until_due);
    return TurnEnd::kNothingSent;
  }
  if (!HasTokens(turn, count, now)) return TurnEnd::kNothingSent;

  turn.pacing.wanted = scan->more ? count : 1;
  turn.pacing.pace.Take(count, now.steady);
  bucket_.Take(count, now.steady);
  step.sent += count;
  Send(turn, std::move(batch), std::move(pass), now);
  WakeAt(now.steady);
  return TurnEnd::kSent;
}

int64_t Sweeper::MaxItems(const Turn& turn) const {
  return std::min({turn.pacing.pace.MaxItems(), store_.state().MaxBatchItems(options_.batch_items),
                   bucket_.BatchSize()});
}

void Sweeper::KeepUpIndex(const Turn& turn, StepResult& step) {
  Pacing& pacing = turn.pacing;
  const int64_t tidied_before = step.tidied;
  const std::optional<DueScan> scan = Scan(turn, kUpkeepDueItems, step);
  const bool tidied = step.tidied > tidied_before;
  if (scan.has_value() && scan->more && tidied) {
    pacing.next_upkeep = steady_;
    return;
  }
  pacing.upkeep_interval =
      tidied ? kUpkeepInterval : std::min(2 * pacing.upkeep_interval, kMostUpkeepInterval);
  pacing.next_upkeep = steady_ + pacing.upkeep_interval;
}

std::optional<DueScan> Sweeper::Scan(const Turn& turn, int64_t max_due, StepResult& step) {
  --scans_left_;
  const Container& container = *turn.container;
  const Moment now = ReadMoment();
  const ScanLimits limits = {static_cast<size_t>(max_due), kEntriesPerScan, turn.full_scan};
  absl::StatusOr<DueScan> scan = parts_.storage.expiry_index().ScanDue(
      container, turn.rule, absl::ToUnixSeconds(JudgeTime(now)), limits);
  if (!scan.ok()) {
    turn.pacing.pace.Hold(ContainerPace::kFirstSlowHold, ContainerPace::kMostSlowHold, now);
    turn.pacing.next_upkeep = now.steady + kUpkeepInterval;
    log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/scan"),
             absl::StrCat("container ", container.id,
                          ": its expiry index cannot be read: ", scan.status().ToString()),
             steady_);
    return std::nullopt;
  }
  if (scan->unreadable > 0) {
    log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/unreadable"),
             absl::StrCat("container ", container.id, ": ", scan->unreadable,
                          " due items are unreadable and are not deleted"),
             steady_);
  }
  if (turn.full_scan) turn.pacing.next_full_scan = now.steady + kFullScanInterval;
  if (!scan->early.empty()) {
    const int64_t tidied = Tidy(container, std::move(scan->early));
    step.tidied += tidied;
    if (tidied > 0) WakeAt(now.steady);
  }
  return *std::move(scan);
}

int64_t Sweeper::Tidy(const Container& container, std::vector<IndexEntry> early) {
  const auto tidied = Await<absl::StatusOr<int64_t>>([&](auto done) {
    parts_.storage.expiry_index().Tidy(container.number, std::move(early), std::move(done));
  });
  if (!tidied.ok()) {
    log_.Log(spdlog::level::warn, "tidy",
             absl::StrCat("container ", container.id,
                          ": early index entries stay for now: ", tidied.status().ToString()),
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
  Pacing& pacing = PacingOf(*call.container, now);
  if (call.response.ok()) {
    TakeResponse(pacing, call, now);
  } else {
    calls_.KeepUntilSettled(call);
    TakeCallError(pacing, call, now);
  }
  PostPace(*call.container, pacing, now);
}

void Sweeper::TakeResponse(Pacing& pacing, const DeleteCall& call, const Moment& now) {
  const v1::DeleteItemsResponse& response = *call.response;
  const bool in_doubt = store_.TakeOutcomes(response, now);
  StoreAnswers answers =
      ReadAnswers(call.batch.items, call.batch.request, response, !in_doubt, JudgeTime(now));
  store_.state().TakeAnswer(response, call.sent, now);
  std::optional<double> charge;
  if (response.has_request_charge()) charge = response.request_charge();
  std::optional<absl::Duration> retry_after;
  if (response.has_retry_after()) retry_after = FromProto(response.retry_after());
  pacing.pace.NoteAnswer(static_cast<int64_t>(call.batch.items.size()),
                         now.steady - call.sent.steady, charge, answers.record.tally.throttled > 0,
                         retry_after, now);
  LogDeletes(*call.container, call.batch.request, response, answers.record.tally);
  TakeAnswers(pacing, *call.container, std::move(answers), now);
}

void Sweeper::TakeCallError(Pacing& pacing, const DeleteCall& call, const Moment& now) {
  const absl::Status& error = call.response.status();
  const std::string& id = call.container->id;
  const int64_t count = static_cast<int64_t>(call.batch.items.size());
  store_.state().TakeCallError(error, IsAnswered(error));
  pacing.pace.NoteFailure(count, FailureOf(error), RetryAfterOf(error), now);
  if (!absl::IsCancelled(error)) {
    log_.Log(spdlog::level::warn, absl::StrCat(id, "/", absl::StatusCodeToString(error.code())),
             absl::StrCat("container ", id, ": a batch of ", count,
                          " deletes failed: ", error.ToString()),
             steady_);
  }
  // What a batch of one fails by may be the fault of that one item.
  if (count > 1 || absl::IsResourceExhausted(error) || absl::IsCancelled(error)) {
    DeleteRecord record;
    record.tally.unanswered = count;
    parts_.board.AddDeletes(call.container->number, record);
    return;
  }
  TakeAnswers(pacing, *call.container,
              BlameItem(call.batch.items.front(), error.ToString(), JudgeTime(now)), now);
}

void Sweeper::TakeAnswers(Pacing& pacing, const Container& container, StoreAnswers answers,
                          const Moment& now) {
  parts_.board.AddDeletes(container.number, answers.record);
  if (const auto& failure = answers.first_failure) {
    log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/", failure->reason),
             absl::StrCat("container ", container.id, ": item ", Show(failure->key),
                          " could not be deleted and is tried again later: ", failure->reason),
             steady_);
  }
  if (answers.reports.empty()) return;
  const auto applied = Await<absl::StatusOr<int64_t>>([&](auto done) {
    parts_.storage.expiry_index().ApplyOutcomes(container.number, std::move(answers.reports),
                                                std::move(done));
  });
  if (applied.ok()) return;
  pacing.pace.Hold(ContainerPace::kFirstSlowHold, ContainerPace::kMostSlowHold, now);
  log_.Log(spdlog::level::warn, "outcomes",
           absl::StrCat("container ", container.id,
                        ": outcomes of deletes are lost, "
                        "they are asked for again: ",
                        applied.status().ToString()),
           steady_);
}

void Sweeper::PostPace(const Container& container, Pacing& pacing, const Moment& now) {
  PaceView view = pacing.pace.View(now);
  if (view == pacing.posted) return;
  pacing.posted = view;
  parts_.board.PostPace(container.number, view);
}

void Sweeper::WakeAt(absl::Duration steady) { wake_at_ = std::min(wake_at_, steady); }

}  // namespace ttl
