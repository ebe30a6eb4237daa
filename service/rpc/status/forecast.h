#ifndef TTL_SERVICE_RPC_STATUS_FORECAST_H_
#define TTL_SERVICE_RPC_STATUS_FORECAST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "service/core/container.h"
#include "service/core/forecast.h"
#include "service/core/item_histogram.h"
#include "service/storage/storage.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {

// A forecast over one container or several, which are added one by one. Not thread-safe.
class Forecast {
 public:
  // Delete rate of a container.
  struct Pace {
    std::optional<double> per_second;  // absent: no limit
    std::optional<absl::Time> begin;   // absent: nothing is deleted until something changes
    std::vector<RateStep> rates = {};  // to come; empty: per_second from begin on
  };

  // `times`: now, then the end of each step, Unix seconds. `limit_of_all`: the limit on the deletes
  // of all containers together; absent: none.
  Forecast(std::vector<int64_t> times, std::optional<double> limit_of_all);

  // Adds a container. `tally` has one count for each of the times.
  void Add(const Container& container, const Tallies::Forecast& tally, const Pace& pace);

  // Sets all of `response` but data_in_doubt.
  void Fill(v1::GetForecastResponse& response) const;

 private:
  struct End {
    v1::BacklogEnd kind = v1::BACKLOG_END_NO_BACKLOG;
    int64_t time = 0;  // of BACKLOG_END_AT_TIME
  };

  std::vector<int64_t> DueItems(const Container& container, const Tallies::Forecast& tally) const;
  End EndAt(const std::vector<int64_t>& due, const Pace& pace) const;
  static End LaterOf(const End& a, const End& b);
  End EndOfAll() const;
  void AddPace(const Pace& pace);
  void FillSteps(v1::GetForecastResponse& response) const;

  const std::vector<int64_t> times_;
  const std::optional<double> limit_of_all_;
  std::vector<ItemEstimate> expiring_;  // element 0: items that are expired now
  std::vector<int64_t> due_;            // of containers with a begin
  std::optional<absl::Time> begin_;     // the first of theirs
  ItemEstimate backlog_;
  int64_t tracked_bytes_ = 0;
  bool complete_ = true;
  // The sum of the rates; absent if a container has no limit, or if there is none.
  std::optional<double> rate_;
  bool unlimited_ = false;
  End end_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_FORECAST_H_
