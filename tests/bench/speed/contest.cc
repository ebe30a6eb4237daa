#include "tests/bench/speed/contest.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "service/base/status_macros.h"

namespace ttl::bench {
namespace {

// Of one contender, round by round.
struct Record {
  std::string name;
  const Measurement* measure = nullptr;
  std::vector<double> values;
  std::vector<double> generator_cores;
  std::vector<double> server_cores;
};

absl::Status MeasureOnce(Record& record, const Window& window) {
  const absl::StatusOr<Sample> sample = (*record.measure)(window);
  if (!sample.ok()) {
    return absl::Status(sample.status().code(),
                        absl::StrCat(record.name, ": ", sample.status().message()));
  }
  record.values.push_back(sample->value);
  record.generator_cores.push_back(sample->generator_cores);
  record.server_cores.push_back(sample->server_cores);
  return absl::OkStatus();
}

std::string Busy(const Record& record) {
  return absl::StrFormat("%s %.2f + %.2f", record.name, SpreadOf(record.generator_cores).median,
                         SpreadOf(record.server_cores).median);
}

std::string BusyCores(const std::vector<Record>& records) {
  std::vector<std::string> known;
  for (const Record& record : records) {
    if (SpreadOf(record.server_cores).max > 0) known.push_back(Busy(record));
  }
  if (known.empty()) return "";
  return absl::StrCat("cores busy, generator + server: ", absl::StrJoin(known, ", "));
}

}  // namespace

absl::StatusOr<Row> Hold(const Contest& contest, const Rounds& rounds) {
  std::vector<Record> records = {{"ours", &contest.ours, {}, {}, {}}};
  for (const Opponent& opponent : contest.opponents) {
    records.push_back({opponent.name, &opponent.measure, {}, {}, {}});
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < records.size(); ++i) order.push_back(i);
  for (int round = 0; round < rounds.count; ++round) {
    for (const size_t i : order) TTL_RETURN_IF_ERROR(MeasureOnce(records[i], rounds.window));
    std::reverse(order.begin(), order.end());
  }

  Row row{contest.name, contest.work,      contest.unit, SpreadOf(records[0].values),
          {},           BusyCores(records)};
  for (size_t i = 0; i < contest.opponents.size(); ++i) {
    const std::vector<double>& theirs = records[i + 1].values;
    row.comparisons.push_back({contest.opponents[i].name, SpreadOf(theirs),
                               SpreadOf(Ratios(records[0].values, theirs)),
                               contest.opponents[i].target});
  }
  return row;
}

}  // namespace ttl::bench
