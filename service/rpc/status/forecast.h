#ifndef TTL_SERVICE_RPC_STATUS_FORECAST_H_
#define TTL_SERVICE_RPC_STATUS_FORECAST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "service/core/container.h"
#include "service/core/item_histogram.h"
#include "service/storage/storage.h"
#include "ttl/v1/expiry_service.pb.h"

namespace ttl {

// A forecast over one container or several, which are added one by one. Not thread-safe.
class Forecast {
 public:
  // How fast the items of a container may be deleted.
  struct Pace {
    std::optional<double> per_second;  // absent: no limit
    bool held = false;                 // nothing is deleted
  };

  // `times`: now, then the end of each step, Unix seconds. `limit_of_all`: the limit on the deletes
  // of all containers together; absent: none.
  Forecast(std::vector<int64_t> times, std::optional<double> limit_of_all);

  // Whether items are due, or become due before the end.
  static bool HasDueItems(const Tallies::Forecast& tally);

  // Adds a container. `tally` has one count for each of the times. The pace may be absent if no
  // item is or becomes due.
  void Add(const Container& container, const Tallies::Forecast& tally,
           const std::optional<Pace>& pace);

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
  std::vector<ItemEstimate> expiring_;  // the first is what is expired now
  std::vector<int64_t> due_;            // of containers whose deletes are not held
  ItemEstimate backlog_;
  int64_t tracked_bytes_ = 0;
  bool complete_ = true;
  // The sum of the rates; absent if a container has no limit, or if no pace was given.
  std::optional<double> rate_;
  bool unlimited_ = false;
  End end_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_RPC_STATUS_FORECAST_H_
