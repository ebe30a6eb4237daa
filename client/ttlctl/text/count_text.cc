#include "client/ttlctl/text/count_text.h"

#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/text/format.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

// The bucket bound within which a share of the deletes, 0 to 1, was made.
std::string BoundText(const v1::LatenessHistogram& histogram, int64_t total, double share) {
  const auto wanted = static_cast<int64_t>(std::ceil(static_cast<double>(total) * share));
  int64_t counted = 0;
  std::string last = "0s";
  for (const v1::LatenessBucket& bucket : histogram.buckets()) {
    if (!bucket.has_at_most()) break;
    counted += bucket.count();
    last = FormatSpan(ToDuration(bucket.at_most()));
    if (counted >= wanted) return absl::StrCat("within ", last);
  }
  return absl::StrCat("later than ", last);
}

}  // namespace

std::string LimitText(bool limited, double per_second) {
  return limited ? absl::StrCat(FormatRate(per_second), "/s") : "no limit";
}

std::string AboutText(int64_t items, int64_t error_bound_items) {
  return absl::StrCat(error_bound_items == 0 ? "" : "about ", FormatCount(items));
}

std::string ItemsText(const v1::ItemCounts& items) {
  const int64_t bound = items.error_bound_items();
  std::string text = absl::StrCat(AboutText(items.live_items(), bound), " live, ",
                                  AboutText(items.expired_items(), bound), " expired");
  if (bound != 0) absl::StrAppend(&text, " (off by ", FormatCount(bound), " at most)");
  if (!items.complete()) {
    absl::StrAppend(&text, "\nitems are still being counted after the start: ",
                    FormatCount(items.tracked_items()), " tracked");
  }
  return text;
}

std::string ForecastText(const google::protobuf::RepeatedField<int64_t>& expiring_per_hour) {
  const int64_t first = expiring_per_hour.empty() ? 0 : expiring_per_hour[0];
  const int64_t all =
      std::accumulate(expiring_per_hour.begin(), expiring_per_hour.end(), int64_t{0});
  return absl::StrCat(FormatCount(first), " within the hour, ", FormatCount(all), " within ",
                      expiring_per_hour.size(), " hours");
}

std::string LatenessText(const v1::LatenessHistogram& histogram) {
  int64_t total = 0;
  for (const v1::LatenessBucket& bucket : histogram.buckets()) total += bucket.count();
  if (total == 0) return "-";
  return absl::StrCat(FormatCount(total), total == 1 ? " delete" : " deletes", ": half ",
                      BoundText(histogram, total, 0.5), ", 99 % ",
                      BoundText(histogram, total, 0.99), ", ",
                      FormatSpan(ToDuration(histogram.sum()) / total), " on average");
}

}  // namespace ttl
