#include "service/rpc/status/forecast.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/types/span.h"
#include "service/base/proto_time.h"
#include "service/core/adoption.h"
#include "service/core/delete_rates.h"

namespace ttl {
namespace {

// Precedence of the ends of several containers: the later end wins, HELD first.
int RankOf(v1::BacklogEnd kind) {
  switch (kind) {
    case v1::BACKLOG_END_HELD:
      return 4;
    case v1::BACKLOG_END_AFTER_FORECAST:
      return 3;
    case v1::BACKLOG_END_UNLIMITED:
      return 2;
    case v1::BACKLOG_END_AT_TIME:
      return 1;
    default:
      return 0;
  }
}

google::protobuf::Timestamp ToTimestamp(int64_t seconds) {
  return ToProto(absl::FromUnixSeconds(seconds));
}

}  // namespace

Forecast::Forecast(std::vector<int64_t> times, std::optional<double> limit_of_all)
    : times_(std::move(times)),
      limit_of_all_(limit_of_all),
      expiring_(times_.size()),
      due_(times_.size()) {}

// Adopted items wait for their grace, but the histogram counts them as due.
std::vector<int64_t> Forecast::DueItems(const Container& container,
                                        const Tallies::Forecast& tally) const {
  std::vector<int64_t> due;
  due.reserve(times_.size());
  for (const ItemEstimate& step : tally.due) due.push_back(step.sum.items);
  const int64_t until = AdoptionEnd(container, tally.adopted.last_adopted_until);
  if (until <= times_[0]) return due;
  const int64_t waiting = std::min(due[0], tally.adopted.left);
  due[0] -= waiting;
  const auto step = std::lower_bound(times_.begin(), times_.end(), until);
  if (step != times_.end()) due[step - times_.begin()] += waiting;
  return due;
}

void Forecast::Add(const Container& container, const Tallies::Forecast& tally, const Pace& pace) {
  for (size_t i = 0; i < times_.size(); ++i) {
    expiring_[i].sum += tally.expiring[i].sum;
    expiring_[i].error_bound_items += tally.expiring[i].error_bound_items;
  }
  complete_ = complete_ && tally.complete;
  tracked_bytes_ += tally.tracked.bytes;
  const std::vector<int64_t> due = DueItems(container, tally);
  backlog_.sum.items += due[0];
  backlog_.error_bound_items += tally.due[0].error_bound_items;
  end_ = LaterOf(end_, EndAt(due, pace));
  AddPace(pace);
  if (!pace.begin.has_value()) return;
  begin_ = std::min(begin_.value_or(*pace.begin), *pace.begin);
  for (size_t i = 0; i < times_.size(); ++i) due_[i] += due[i];
}

void Forecast::AddPace(const Pace& pace) {
  if (pace.begin.has_value() && !pace.per_second.has_value()) unlimited_ = true;
  const double added = pace.begin.has_value() ? pace.per_second.value_or(0) : 0;
  rate_ = unlimited_ ? std::nullopt : std::optional<double>(rate_.value_or(0) + added);
}

Forecast::End Forecast::EndAt(const std::vector<int64_t>& due, const Pace& pace) const {
  if (due[0] == 0) return {};
  if (!pace.begin.has_value()) return {v1::BACKLOG_END_HELD};
  if (!pace.per_second.has_value()) return {v1::BACKLOG_END_UNLIMITED};
  const RateStep present = {absl::ToUnixSeconds(*pace.begin), *pace.per_second};
  const std::optional<int64_t> end = FindBacklogEnd(
      times_, due,
      pace.rates.empty() ? absl::MakeConstSpan(&present, 1) : absl::MakeConstSpan(pace.rates));
  if (!end.has_value()) return {v1::BACKLOG_END_AFTER_FORECAST};
  return {v1::BACKLOG_END_AT_TIME, *end};
}

Forecast::End Forecast::LaterOf(const End& a, const End& b) {
  if (RankOf(a.kind) != RankOf(b.kind)) return RankOf(a.kind) > RankOf(b.kind) ? a : b;
  return a.time >= b.time ? a : b;
}

// Each container has its own rate, and the limit on all deletes may make all of them slower.
Forecast::End Forecast::EndOfAll() const {
  if (!limit_of_all_.has_value()) return end_;
  return LaterOf(end_, EndAt(due_, {limit_of_all_, begin_}));
}

void Forecast::FillSteps(v1::GetForecastResponse& response) const {
  for (size_t i = 1; i < times_.size(); ++i) {
    v1::ForecastStep& step = *response.add_steps();
    *step.mutable_end_time() = ToTimestamp(times_[i]);
    step.set_items(expiring_[i].sum.items);
    step.set_error_bound_items(expiring_[i].error_bound_items);
    if (tracked_bytes_ > 0) step.set_bytes(expiring_[i].sum.bytes);
  }
}

void Forecast::Fill(v1::GetForecastResponse& response) const {
  FillSteps(response);
  const bool no_errors =
      backlog_.error_bound_items == 0 &&
      std::all_of(response.steps().begin(), response.steps().end(),
                  [](const v1::ForecastStep& step) { return step.error_bound_items() == 0; });
  *response.mutable_judged_at() = ToTimestamp(times_[0]);
  response.set_complete(complete_);
  response.set_exact(complete_ && no_errors);
  response.set_backlog_items(backlog_.sum.items);
  response.set_backlog_error_bound_items(backlog_.error_bound_items);
  if (const auto rate = StricterLimit(rate_, limit_of_all_); rate.has_value()) {
    response.set_allowed_deletes_per_second(*rate);
  }
  const End end = EndOfAll();
  response.set_backlog_end(end.kind);
  if (end.kind == v1::BACKLOG_END_AT_TIME) {
    *response.mutable_backlog_end_time() = ToTimestamp(end.time);
  }
}

}  // namespace ttl
