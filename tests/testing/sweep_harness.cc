#include "tests/testing/sweep_harness.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "grpcpp/security/credentials.h"
#include "service/base/done.h"

namespace ttl {
namespace {

// More steps without a wait than any test needs: the sweeper spins.
constexpr int kMaxStepsAtOnce = 200'000;

// What FakeClock begins with.
constexpr absl::Duration kBootStart = absl::Hours(1);

std::string NameOf(EventKind kind) {
  static constexpr const char* kNames[] = {"EXPIRED",  "PURGED",         "GONE",   "REVIVED",
                                           "REPLACED", "POLICY_CHANGED", "RESYNC", "EXPIRING"};
  return kNames[static_cast<int>(kind) - 1];
}

void CountStep(int& steps) {
  if (++steps < kMaxStepsAtOnce) return;
  std::fprintf(stderr, "the loop never wants to wait\n");
  std::abort();
}

}  // namespace

SweepHarness::SweepHarness(SweeperOptions options)
    : store([this] {
        // The machine of the store has a clock of its own, whatever happens to our wall.
        return kTestNow + (clock.Read().boot.value_or(kBootStart) - kBootStart) +
               store_clock_offset();
      }),
      options_(std::move(options)) {
  guarded_clock.emplace(clock, std::nullopt);
  client_ =
      std::make_unique<PrimaryStoreClient>(store.address(), grpc::InsecureChannelCredentials());
  RestartSweeper(options_);
}

SweepHarness::~SweepHarness() {
  sweeper_.reset();
  storage->feed().SetClock(nullptr);
}

void SweepHarness::SetStoreClockOffset(absl::Duration offset) {
  store_clock_offset_ns_ = absl::ToInt64Nanoseconds(offset);
}

int64_t SweepHarness::Now() const { return absl::ToUnixSeconds(*clock.Read().wall); }

void SweepHarness::Write(const std::string& container, const std::string& id, int64_t ts,
                         std::optional<int64_t> ttl, const std::string& etag) {
  ItemVersion version;
  version.times = {ts, ttl};
  version.etag = etag;
  Write(container, KeyOf(id), version);
}

void SweepHarness::Write(const std::string& container, const ItemKey& key,
                         const ItemVersion& version) {
  store.Put(container, key, version);
  if (!storage.Track(container, {{key, version}}).ok()) std::abort();
}

void SweepHarness::WriteMany(const std::string& container, const std::string& prefix, int64_t count,
                             int64_t ts, std::optional<int64_t> ttl) {
  std::vector<ItemReport> reports;
  for (int64_t i = 0; i < count; ++i) {
    ItemReport& report = reports.emplace_back();
    report.key = KeyOf(absl::StrFormat("%s%05d", prefix, i));
    report.version.times = {ts, ttl};
    store.Put(container, report.key, report.version);
  }
  if (!storage.Track(container, std::move(reports)).ok()) std::abort();
}

Sweeper::StepResult SweepHarness::Step() {
  for (;;) {
    Sweeper::StepResult step = RunOnce();
    bool awaited = false;
    while (sweeper_->AwaitCall()) {
      awaited = true;
      sweeper_->TakeIn(step);
    }
    if (awaited) step.wait = absl::ZeroDuration();
    if (!awaited || step.sent > 0) return step;
  }
}

Sweeper::StepResult SweepHarness::RunOnceWith(std::function<void()> change) {
  // A step that handles no answer reads the time when it begins, for its slices, and for sending.
  hooked_clock_.BeforeRead(3, std::move(change));
  const Sweeper::StepResult step = RunOnce();
  hooked_clock_.BeforeRead(0, nullptr);
  return step;
}

int64_t SweepHarness::SweepNow() {
  int64_t sent = 0;
  int steps = 0;
  for (;;) {
    const Sweeper::StepResult step = Step();
    sent += step.sent;
    if (step.wait > absl::ZeroDuration()) return sent;
    CountStep(steps);
  }
}

int64_t SweepHarness::SweepFor(absl::Duration duration) {
  const absl::Duration end = *clock.Read().boot + duration;
  int64_t sent = 0;
  int steps = 0;
  for (;;) {
    const Sweeper::StepResult step = Step();
    sent += step.sent;
    const absl::Duration left = end - *clock.Read().boot;
    if (left <= absl::ZeroDuration() && step.wait > absl::ZeroDuration()) return sent;
    clock.Advance(std::min(step.wait, left));
    guarded_clock->Tick();
    CountStep(steps);
  }
}

ContainerPtr SweepHarness::CreateWithFeed(const std::string& id, std::optional<int64_t> default_ttl,
                                          const FeedSettings& feed) {
  ContainerSettings settings;
  settings.policy.default_ttl = default_ttl;
  settings.feed = feed;
  const absl::Time now = *clock.Read().wall;
  return Await<absl::StatusOr<ContainerPtr>>(
             [&](auto done) { storage->containers().Create(id, settings, now, std::move(done)); })
      .value();
}

Announcer::StepResult SweepHarness::AnnounceNow() {
  Announcer::StepResult total;
  int steps = 0;
  do {
    const Announcer::StepResult step = announcer_->RunOnce();
    total.announced += step.announced;
    total.noticed += step.noticed;
    total.revived += step.revived;
    total.tidied += step.tidied;
    total.wait = step.wait;
    CountStep(steps);
  } while (total.wait == absl::ZeroDuration());
  return total;
}

std::vector<std::string> SweepHarness::Events(const std::string& container) {
  FeedQuery query;
  query.containers = {storage.Find(container)};
  query.after = query.containers[0]->feed.first_sequence;
  query.max_events = 100'000;
  query.max_bytes = size_t{1} << 30;
  query.max_examined = 100'000;
  std::vector<std::string> events;
  const FeedPage page = storage->feed().Read(query).value();
  for (const FeedPage::Entry& entry : page.entries) {
    const FeedEvent& event = entry.event;
    events.push_back(absl::StrCat(NameOf(event.kind), event.key.id.empty() ? "" : " ", event.key.id,
                                  event.late ? " late" : "",
                                  event.superseded ? " superseded" : ""));
  }
  return events;
}

std::optional<double> SweepHarness::Watermark(const std::string& container) {
  const auto watermark = feed_progress.Of(*storage.Find(container)).watermark;
  if (!watermark.has_value()) return std::nullopt;
  return absl::ToDoubleSeconds(*watermark - kTestNow);
}

void SweepHarness::Restart() {
  sweeper_.reset();
  storage.Reopen();
  client_ =
      std::make_unique<PrimaryStoreClient>(store.address(), grpc::InsecureChannelCredentials());
  const ClockMemory memory = guarded_clock->Memory();
  guarded_clock.emplace(clock, memory);
  RestartSweeper(options_);
}

void SweepHarness::RestartSweeper(const SweeperOptions& options) {
  options_ = options;
  sweeper_.reset();
  storage->feed().SetClock(nullptr);
  levers = Levers::Load(*storage, {}).value();
  moments_.emplace(hooked_clock_, *guarded_clock);
  sweeper_ = std::make_unique<Sweeper>(
      options_, Sweeper::Parts{*storage, client_.get(), published, usage, *levers, wake_, *moments_,
                               &feed_progress});
  feed_judge_.emplace(*guarded_clock, clock, storage->data_trust(), levers->store_trust());
  storage->feed().SetClock([this] { return feed_judge_->Read(); });
  announcer_moments_.emplace(clock, *guarded_clock);
  announcer_ = std::make_unique<Announcer>(
      Announcer::Parts{*storage, *feed_judge_, *announcer_moments_, feed_progress});
}

void SweepHarness::SetLimit(std::optional<double> per_second) {
  const absl::Status set =
      Await<absl::Status>([&](auto done) { levers->SetLimit(per_second, std::move(done)); });
  if (!set.ok()) std::abort();
}

DeleteTally SweepHarness::TallyOf(const std::string& container) {
  return published.View(storage.Find(container)->number).deletes.tally;
}

}  // namespace ttl
