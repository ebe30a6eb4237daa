#include "service/expiry/store/reconciler.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "service/core/state/unconfirmed_store.h"
#include "service/expiry/pace/retry_delay.h"
#include "service/expiry/store/scanned_page.h"

namespace ttl {
namespace {

// A request wakes the loop earlier.
constexpr absl::Duration kIdle = absl::Hours(1);

constexpr absl::Duration kFirstRetry = absl::Milliseconds(100);
constexpr absl::Duration kMaxRetry = absl::Seconds(10);
// Give up after about a minute of failures.
constexpr int kMaxFailures = 12;

constexpr int64_t kMinPageItems = 100;
constexpr size_t kTrackedItemsPerStep = 2000;
constexpr absl::Duration kProgressLogInterval = absl::Seconds(10);

// Whether a retry cannot succeed.
bool IsFinal(const absl::Status& status) {
  return absl::IsUnimplemented(status) || absl::IsInvalidArgument(status) ||
         absl::IsPermissionDenied(status) || absl::IsUnauthenticated(status);
}

std::optional<Difference> DifferenceOf(ScanOutcome outcome) {
  switch (outcome) {
    case ScanOutcome::kSame:
      return std::nullopt;
    case ScanOutcome::kMissing:
      return Difference::kMissing;
    case ScanOutcome::kDiffering:
      return Difference::kDiffering;
    case ScanOutcome::kNewer:
      break;
  }
  return Difference::kNewer;
}

std::string CountsText(const ReconciliationCounts& counts) {
  return absl::StrCat("scanned=", counts.scanned, " same=", counts.same,
                      " missing=", counts.missing, " differing=", counts.differing,
                      " newer=", counts.newer, " invalid=", counts.invalid,
                      " extra=", counts.extra);
}

const char* StateText(ReconciliationState state) {
  switch (state) {
    case ReconciliationState::kRunning:
      return "running";
    case ReconciliationState::kWaiting:
      return "waiting";
    case ReconciliationState::kDone:
      return "done";
    case ReconciliationState::kFailed:
      return "failed";
    case ReconciliationState::kCancelled:
      break;
  }
  return "cancelled";
}

}  // namespace

Reconciler::Reconciler(const ReconcilerOptions& options, Parts parts)
    : options_(options), parts_(std::move(parts)) {
  if (NeedsRebuild()) BeginRebuild();
}

bool Reconciler::NeedsRebuild() const {
  if (!parts_.storage.data_trust().in_doubt()) return false;
  if (options_.rebuild) return true;
  const auto doubt = parts_.storage.sidecar_state().LoadDataDoubt();
  return doubt.ok() && doubt->has_value() && (*doubt)->store_epoch != 0;
}

void Reconciler::BeginRebuild() {
  job_ = Job{};
  job_->doubt = parts_.storage.data_trust().doubt();
  job_->view.rebuild = true;
  job_->view.start_time = parts_.clock.Read().now;
  const auto doubt = parts_.storage.sidecar_state().LoadDataDoubt();
  if (doubt.ok() && doubt->has_value() && !(*doubt)->container.empty()) job_->resumed = **doubt;
  spdlog::warn("rebuild started: reason=\"{}\" from=\"{}\"", parts_.storage.data_trust().doubt(),
               job_->resumed.has_value() ? job_->resumed->container : "");
  Post();
}

bool Reconciler::TakeRequest() {
  std::optional<Reconciliation> requested = parts_.published.Take();
  if (!requested.has_value()) return false;
  job_ = Job{};
  job_->doubt = parts_.storage.data_trust().doubt();
  job_->view = *std::move(requested);
  spdlog::info("reconciliation started: container=\"{}\" dry_run={}", job_->view.request.container,
               job_->view.request.dry_run);
  return true;
}

absl::Duration Reconciler::RunOnce() {
  if (!job_.has_value() && !TakeRequest()) {
    if (!NeedsRebuild()) return kIdle;
    BeginRebuild();
  }
  if (job_->view.rebuild && !parts_.storage.data_trust().in_doubt()) {
    Finish(ReconciliationState::kCancelled, "an operator declared the data complete");
    return absl::ZeroDuration();
  }
  if (job_->view.rebuild && parts_.storage.data_trust().doubt() != job_->doubt) {
    Finish(ReconciliationState::kCancelled,
           "the data is in doubt for another reason: the rebuild starts again");
    return absl::ZeroDuration();
  }
  // A rebuild waits for the confirmation; an operator's reconciliation fails, to say so at once.
  if (const std::string unconfirmed = Unconfirmed(); !job_->view.rebuild && !unconfirmed.empty()) {
    Finish(ReconciliationState::kFailed, unconfirmed);
    return absl::ZeroDuration();
  }
  const absl::Duration began = SteadyNow();
  job_->step_items = 0;
  absl::Status status = CheckStore();
  if (status.ok()) status = Step();
  if (!status.ok()) return OnFailure(status);
  if (!job_.has_value()) return absl::ZeroDuration();
  job_->failures = 0;
  job_->view.state = ReconciliationState::kRunning;
  job_->view.problem.clear();
  if (!Post()) {
    Finish(ReconciliationState::kCancelled, "");
    return absl::ZeroDuration();
  }
  LogProgress();
  return Pace(SteadyNow() - began);
}

// Why the store may be another one, so that nothing may be taken from it; empty if it is not.
std::string Reconciler::Unconfirmed() const {
  const std::string why =
      UnconfirmedReason(parts_.levers.store_trust(), parts_.published_sweep.Store());
  return why.empty() ? "" : absl::StrCat("the primary store has to be confirmed: ", why);
}

absl::Status Reconciler::CheckStore() const {
  if (parts_.store == nullptr) return absl::FailedPreconditionError("no store is configured");
  if (const std::string unconfirmed = Unconfirmed(); !unconfirmed.empty()) {
    return absl::UnavailableError(unconfirmed);
  }
  const StoreView store = parts_.published_sweep.Store();
  if (!store.reachable) {
    return absl::UnavailableError(
        absl::StrCat("the primary store cannot be reached",
                     store.last_error.empty() ? "" : absl::StrCat(": ", store.last_error)));
  }
  // What it can do decides what its items say.
  if (store.store_id.empty()) {
    return absl::UnavailableError("the primary store has not answered GetStoreInfo yet");
  }
  return absl::OkStatus();
}

absl::Status Reconciler::Step() {
  switch (job_->phase) {
    case Phase::kNextContainer:
      TTL_RETURN_IF_ERROR(LogResync());
      return NextContainer();
    case Phase::kScan:
      return ScanPage();
    case Phase::kUnseen:
      return LookForUnseen();
  }
  return absl::OkStatus();
}

absl::Status Reconciler::NextContainer() {
  ContainerPtr next = FindNext();
  if (next != nullptr) {
    EnterContainer(std::move(next));
    return absl::OkStatus();
  }
  const Reconciliation& view = job_->view;
  if (view.request.container.empty() && !view.request.dry_run) TTL_RETURN_IF_ERROR(EndDoubt());
  Finish(ReconciliationState::kDone, "");
  return absl::OkStatus();
}

// Null if all are done.
ContainerPtr Reconciler::FindNext() const {
  const Containers& containers = parts_.storage.containers();
  const Job& job = *job_;
  const bool is_first = job.view.containers_done == 0 && job.view.container.empty();
  const std::string& asked_for = job.view.request.container;
  if (!asked_for.empty()) return is_first ? containers.Find(asked_for) : nullptr;
  if (is_first && job.resumed.has_value()) {
    ContainerPtr resumed = containers.Find(job.resumed->container);
    if (resumed != nullptr) return resumed;
  }
  const std::string& after =
      is_first && job.resumed.has_value() ? job.resumed->container : job.view.container;
  const std::vector<ContainerPtr> next = containers.List(after, 1);
  return next.empty() ? nullptr : next.front();
}

void Reconciler::EnterContainer(ContainerPtr container) {
  Job& job = *job_;
  job.container = std::move(container);
  job.phase = Phase::kScan;
  job.page_token.clear();
  job.looked_at.reset();
  job.page_items = std::clamp<int64_t>(static_cast<int64_t>(options_.max_items_per_second), 1,
                                       options_.page_items);
  const std::optional<DataDoubt> resumed = std::exchange(job.resumed, std::nullopt);
  if (resumed.has_value() && resumed->container == job.container->id) {
    job.page_token = resumed->page_token;
  }
  job.is_partial = !job.page_token.empty();
  job.view.container = job.container->id;
  job.view.containers_total = job.view.request.container.empty()
                                  ? static_cast<int64_t>(parts_.storage.containers().Count())
                                  : 1;
  job.view.estimated_items.reset();
  job.view.items = 0;
  parts_.storage.scanned_items().Begin(job.container->number);
}

void Reconciler::LeaveContainer() {
  parts_.storage.scanned_items().End();
  // The end of a doubt tells all containers.
  const ReconciliationRequest& request = job_->view.request;
  const bool ends_doubt = !job_->doubt.empty() && request.container.empty();
  if (job_->container->feed.is_on() && !request.dry_run && !ends_doubt) {
    job_->to_resync = job_->container->number;
  }
  job_->container = nullptr;
  ++job_->view.containers_done;
  job_->phase = Phase::kNextContainer;
}

// Tells the feed of the container that was left, if it has one, that events may be missing.
absl::Status Reconciler::LogResync() {
  if (job_->to_resync == 0) return absl::OkStatus();
  const absl::Status told = Await<absl::Status>(
      [&](auto done) { parts_.storage.feed().Resync(job_->to_resync, std::move(done)); });
  const bool has_no_feed = absl::IsNotFound(told) || absl::IsFailedPrecondition(told);
  if (!told.ok() && !has_no_feed) return told;
  job_->to_resync = 0;
  return absl::OkStatus();
}

absl::Status Reconciler::ScanPage() {
  Job& job = *job_;
  parts_.storage.scanned_items().BeginPage();
  v1::ScanItemsRequest request;
  request.set_container(job.container->id);
  request.set_page_token(job.page_token);
  request.set_max_items(static_cast<int32_t>(job.page_items));
  absl::Status taken;
  int64_t messages = 0;
  const absl::Status read = parts_.store->ScanItems(
      request, options_.page_deadline, [&](const v1::ScanItemsResponse& response) {
        taken = TakeMessage(response);
        ++messages;
        return taken.ok() && job.phase == Phase::kScan && job.step_items < job.page_items;
      });
  if (absl::IsNotFound(taken)) {  // the container was deleted meanwhile
    LeaveContainer();
    return absl::OkStatus();
  }
  TTL_RETURN_IF_ERROR(taken);
  if (absl::IsNotFound(read)) {
    job.phase = Phase::kUnseen;
  } else {
    TTL_RETURN_IF_ERROR(read);
    if (messages == 0) return absl::InternalError("the store's scan ended without a message");
  }
  return SaveProgress();
}

absl::Status Reconciler::TakeMessage(const v1::ScanItemsResponse& response) {
  Job& job = *job_;
  TTL_ASSIGN_OR_RETURN(
      ScannedPage page,
      ReadScannedPage(job.container->id, response, job.page_token, parts_.clock.Read().latest,
                      IllegalTtlOf(job.container->settings.policy)));
  Reconciliation view = job.view;  // a copy, so that a page that fails is not counted twice
  for (size_t i = 0; i < page.items.size(); i += options_.commit_items) {
    const auto begin = page.items.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = page.items.begin() + static_cast<std::ptrdiff_t>(std::min(
                                              i + options_.commit_items, page.items.size()));
    TTL_RETURN_IF_ERROR(Apply({begin, end}, view));
  }
  for (ReconciliationSample& sample : page.impossible) view.Add(std::move(sample));
  view.counts.scanned += response.items_size();
  view.items += response.items_size();
  if (response.has_estimated_items()) view.estimated_items = response.estimated_items();
  job.view = std::move(view);
  job.step_items += response.items_size();
  job.page_token = std::move(page.next_page_token);
  if (job.page_token.empty()) job.phase = Phase::kUnseen;
  return absl::OkStatus();
}

absl::Status Reconciler::Apply(const std::vector<ItemReport>& items, Reconciliation& view) {
  using Comparisons = absl::StatusOr<std::vector<ScanComparison>>;
  const JudgingTime time = parts_.clock.Read();
  const AdoptionTerms terms = {time.now, time.latest, options_.adoption_grace, /*adopted=*/true};
  const bool knows_expire_at = parts_.published_sweep.Store().knows_expire_at;
  TTL_ASSIGN_OR_RETURN(std::vector<ScanComparison> comparisons, Await<Comparisons>([&](auto done) {
                         parts_.storage.scanned_items().Apply(job_->container->number, items, terms,
                                                              knows_expire_at, view.request.dry_run,
                                                              std::move(done));
                       }));
  for (size_t i = 0; i < items.size(); ++i) {
    const std::optional<Difference> difference = DifferenceOf(comparisons[i].outcome);
    if (!difference.has_value()) {
      ++view.counts.same;
      continue;
    }
    view.Add({*difference, view.container, items[i].key, items[i].version,
              std::move(comparisons[i].tracked), ""});
  }
  return absl::OkStatus();
}

absl::Status Reconciler::SaveProgress() {
  const Job& job = *job_;
  if (!job.view.rebuild) return absl::OkStatus();
  const DataDoubt doubt = {job.doubt, job.container->id, job.page_token};
  // With an empty token a crash repeats the container's scan rather than skipping it.
  return Await<absl::Status>(
      [&](auto done) { parts_.storage.sidecar_state().UpdateDataDoubt(doubt, std::move(done)); });
}

absl::Status Reconciler::LookForUnseen() {
  Job& job = *job_;
  if (job.is_partial) {
    LeaveContainer();
    return absl::OkStatus();
  }
  TTL_ASSIGN_OR_RETURN(ScannedItems::UnseenPage page,
                       parts_.storage.scanned_items().FindUnseen(
                           job.container->number, job.looked_at, kTrackedItemsPerStep));
  for (auto& [key, version] : page.items) {
    job.view.Add({Difference::kExtra, job.container->id, std::move(key), std::nullopt,
                  std::move(version), ""});
  }
  job.looked_at = std::move(page.reached);
  if (!job.looked_at.has_value()) LeaveContainer();
  return absl::OkStatus();
}

absl::Status Reconciler::EndDoubt() {
  const std::string& doubt = job_->doubt;
  if (doubt.empty()) return absl::OkStatus();
  return parts_.levers.EndRebuild(doubt);
}

absl::Duration Reconciler::OnFailure(const absl::Status& status) {
  Job& job = *job_;
  log_.Log(spdlog::level::warn, "reconciliation",
           absl::StrCat("reconciliation failed, will retry: container=", Quoted(job.view.container),
                        " error=", Quoted(TextOf(status), kMaxErrorBytes)),
           SteadyNow());
  // ABORTED comes from scan marks only: more was reported during the page than they can hold.
  if (absl::IsAborted(status)) job.page_items = std::max(kMinPageItems, job.page_items / 2);
  // A page that failed part way made progress: its items were applied.
  job.failures = job.step_items > 0 ? 1 : job.failures + 1;
  const bool gives_up = IsFinal(status) || job.failures >= kMaxFailures;
  if (!job.view.rebuild && gives_up) {
    Finish(ReconciliationState::kFailed, std::string(status.message()));
    return absl::ZeroDuration();
  }
  job.view.state = ReconciliationState::kWaiting;
  job.view.problem = std::string(status.message());
  if (!Post()) {
    Finish(ReconciliationState::kCancelled, "");
    return absl::ZeroDuration();
  }
  return GrowingDelay(job.failures, kFirstRetry, kMaxRetry);
}

void Reconciler::Finish(ReconciliationState state, const std::string& problem) {
  if (job_->container != nullptr) parts_.storage.scanned_items().End();
  Reconciliation& view = job_->view;
  view.state = state;
  view.problem = problem;
  view.end_time = parts_.clock.Read().now;
  spdlog::info("{} finished: state={} containers={} {} problem=\"{}\"",
               view.rebuild ? "rebuild" : "reconciliation", StateText(state), view.containers_done,
               CountsText(view.counts), absl::Utf8SafeCEscape(problem));
  Post();
  job_.reset();
}

bool Reconciler::Post() { return parts_.published.Post(job_->view); }

void Reconciler::LogProgress() {
  const absl::Duration now = SteadyNow();
  if (now - logged_ < kProgressLogInterval) return;
  logged_ = now;
  const Reconciliation& view = job_->view;
  spdlog::info("{} in progress: container=\"{}\" containers={}/{} items={} {}",
               view.rebuild ? "rebuild" : "reconciliation", view.container, view.containers_done,
               view.containers_total, view.items, CountsText(view.counts));
}

absl::Duration Reconciler::SteadyNow() const {
  return parts_.system_clock.Read().boot.value_or(absl::ZeroDuration());
}

// Keeps to the read rate; while tracked items are examined, idles half of the time.
absl::Duration Reconciler::Pace(absl::Duration took) const {
  if (job_->step_items == 0) return job_->phase == Phase::kUnseen ? took : absl::ZeroDuration();
  const absl::Duration due =
      absl::Seconds(static_cast<double>(job_->step_items) / options_.max_items_per_second);
  return std::max(due - took, absl::ZeroDuration());
}

}  // namespace ttl
