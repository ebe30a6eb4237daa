#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "service/base/status_macros.h"
#include "tests/bench/client_checks.h"
#include "tests/bench/speed/bench_processes.h"
#include "tests/bench/speed/rows.h"
#include "tests/bench/speed/sidecar_setup.h"
#include "tests/bench/speed/statistics.h"
#include "tests/bench/speed/window_meter.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"
#include "ttl/local_evaluator.h"

namespace ttl::bench {
namespace {

constexpr char kContainer[] = "bench/local";
constexpr int64_t kDefaultTtl = 86400;
constexpr double kLocalTarget = 20e6;
constexpr size_t kItems = 10'000;
constexpr size_t kBatch = 100;

// Items with and without a ttl of their own, and what they are: for hours to come, and
// for hours by now.
struct LocalItems {
  std::vector<JudgedItem> times;
  std::vector<LocalVerdict> truth;
};

LocalItems MakeLocalItems(int64_t now) {
  LocalItems items;
  for (size_t i = 0; i < kItems; ++i) {
    const bool is_expired = i % 10 == 9;
    const int64_t age = is_expired ? 2 * kDefaultTtl : static_cast<int64_t>(i % 1000);
    const std::optional<int64_t> ttl =
        i % 3 == 0 ? std::optional<int64_t>(kDefaultTtl) : std::nullopt;
    items.times.push_back({now - age, ttl});
    items.truth.push_back(is_expired ? LocalVerdict::kExpired : LocalVerdict::kVisible);
  }
  return items;
}

// Judges in this process, by what one sidecar tells.
class LocalJudging {
 public:
  absl::Status Start() {
    TTL_RETURN_IF_ERROR(sidecar_.Start());
    TTL_RETURN_IF_ERROR(CreateContainer(sidecar_.channel(), kContainer, kDefaultTtl));
    LocalEvaluatorOptions options;
    options.client.address = sidecar_.address();
    evaluator_.emplace(options);
    container_ = &evaluator_->Find(kContainer);
    const bool is_known = WaitUntil([this] {
      return evaluator_->Judge(*container_, items_.times[0]) != LocalVerdict::kUnknown;
    });
    if (is_known) return absl::OkStatus();
    return absl::DeadlineExceededError("the evaluator does not get to know the container");
  }

  // Each as of its own instant.
  absl::StatusOr<Sample> MeasureOneByOne(const Window& window) {
    return Measure(window, [this](size_t first) {
      for (size_t i = 0; i < kBatch; ++i) {
        verdicts_[i] = evaluator_->Judge(*container_, items_.times[first + i]);
      }
    });
  }

  // So many as of one instant.
  absl::StatusOr<Sample> MeasureTogether(const Window& window) {
    return Measure(window, [this](size_t first) {
      evaluator_->Judge(*container_, absl::MakeConstSpan(items_.times).subspan(first, kBatch),
                        absl::MakeSpan(verdicts_));
    });
  }

 private:
  template <typename Judge>
  absl::StatusOr<Sample> Measure(const Window& window, const Judge& judge) {
    WindowMeter meter(window, /*server=*/0);
    size_t first = 0;
    do {
      judge(first);
      if (!std::equal(verdicts_.begin(), verdicts_.end(), items_.truth.begin() + first)) {
        return absl::InternalError(absl::StrCat("a wrong verdict on items from ", first));
      }
      first = (first + kBatch) % kItems;
    } while (meter.Count(kBatch));
    return Sample{meter.Result().value, 0, 0};
  }

  const TempDir directory_;
  SidecarProcess sidecar_{SidecarIn(directory_.path())};
  const LocalItems items_ = MakeLocalItems(absl::ToUnixSeconds(absl::Now()));
  std::vector<LocalVerdict> verdicts_ = std::vector<LocalVerdict>(kBatch);
  std::optional<LocalEvaluator> evaluator_;
  const LocalEvaluator::Container* container_ = nullptr;
};

// A figure that is given instead of measured.
Opponent FixedTarget() {
  return {"20M checks/s",
          [](const Window&) -> absl::StatusOr<Sample> {
            return Sample{kLocalTarget, 0, 0};
          },
          Target{Target::Kind::kAtLeast, 1}};
}

// Rates, or p50s, of the two kinds of checks.
Row SharedChecksRow(const std::vector<ClientCheckRound>& rounds,
                    double (*figure)(const ClientCheckRate&), Target target) {
  std::vector<double> alone;
  std::vector<double> shared;
  for (const ClientCheckRound& round : rounds) {
    alone.push_back(figure(round.alone));
    shared.push_back(figure(round.shared));
  }
  Row row;
  row.ours = SpreadOf(shared);
  row.comparisons = {
      {"a call for each check", SpreadOf(alone), SpreadOf(Ratios(shared, alone)), target}};
  return row;
}

double RateOf(const ClientCheckRate& rate) { return rate.checks_per_second; }

double P50Of(const ClientCheckRate& rate) {
  return std::chrono::duration<double, std::micro>(rate.p50).count();
}

ClientCheckOptions ClientOptions(const SidecarProcess& sidecar, const Rounds& rounds, int threads) {
  ClientCheckOptions options;
  options.address = sidecar.address();
  options.threads = threads;
  options.rounds = rounds.count;
  options.warm_up = rounds.window.warm_up;
  options.window = rounds.window.length;
  return options;
}

absl::StatusOr<Row> JudgeLocally(const RowOptions& options, Measurement measure, std::string name,
                                 std::string work) {
  Contest contest;
  contest.name = std::move(name);
  contest.work = std::move(work);
  contest.unit = "checks/s";
  contest.ours = std::move(measure);
  contest.opponents = {FixedTarget()};
  return Hold(contest, options.rounds);
}

}  // namespace

absl::StatusOr<std::vector<Row>> JudgeInClient(const RowOptions& options) {
  LocalJudging judging;
  TTL_RETURN_IF_ERROR(judging.Start());
  std::vector<Row> rows(2);
  TTL_ASSIGN_OR_RETURN(rows[0],
                       JudgeLocally(
                           options, [&](const Window& w) { return judging.MeasureTogether(w); },
                           "local-100", "LocalEvaluator, 100 items as of one instant, one core"));
  TTL_ASSIGN_OR_RETURN(
      rows[1], JudgeLocally(
                   options, [&](const Window& w) { return judging.MeasureOneByOne(w); }, "local-1",
                   "LocalEvaluator, item by item, one core"));
  return rows;
}

absl::StatusOr<std::vector<Row>> ShareChecks(const RowOptions& options) {
  // Two that are equally fast differ by so much from run to run.
  constexpr double kNoWorse = 1.05;
  const TempDir directory;
  SidecarProcess sidecar(SidecarIn(directory.path()));
  TTL_RETURN_IF_ERROR(sidecar.Start());
  TTL_RETURN_IF_ERROR(PrepareClientChecks(sidecar.address()));
  TTL_ASSIGN_OR_RETURN(const auto busy,
                       CompareClientChecks(ClientOptions(sidecar, options.rounds, 64)));
  TTL_ASSIGN_OR_RETURN(const auto quiet,
                       CompareClientChecks(ClientOptions(sidecar, options.rounds, 1)));
  Row rate = SharedChecksRow(busy, RateOf, {Target::Kind::kAtLeast, 5});
  rate.name = "shared-64";
  rate.work = "TtlClient::CheckItem of 64 threads, sharing messages";
  rate.unit = "checks/s";
  Row latency = SharedChecksRow(quiet, P50Of, {Target::Kind::kAtMost, kNoWorse});
  latency.name = "shared-1";
  latency.work = "p50 of TtlClient::CheckItem of one thread, sharing messages";
  latency.unit = "us";
  return std::vector<Row>{rate, latency};
}

}  // namespace ttl::bench
