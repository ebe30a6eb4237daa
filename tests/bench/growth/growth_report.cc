#include "tests/bench/growth/growth_report.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace ttl::bench {
namespace {

constexpr uint64_t kThousand = 1000;
constexpr uint64_t kMillion = 1'000'000;
constexpr uint64_t kSmallestSize = 100'000;

}  // namespace

absl::StatusOr<uint64_t> ParseItems(absl::string_view text) {
  absl::string_view digits = text;
  uint64_t unit = 1;
  if (absl::ConsumeSuffix(&digits, "K")) {
    unit = kThousand;
  } else if (absl::ConsumeSuffix(&digits, "M")) {
    unit = kMillion;
  }
  uint64_t count = 0;
  if (absl::SimpleAtoi(digits, &count) && count > 0 &&
      count <= std::numeric_limits<uint64_t>::max() / unit) {
    return count * unit;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no number of items; give one such as 1000, 10K or 3M"));
}

std::string ItemsText(uint64_t items) {
  if (items % kMillion == 0) return absl::StrCat(items / kMillion, "M");
  if (items % kThousand == 0) return absl::StrCat(items / kThousand, "K");
  return absl::StrCat(items);
}

std::vector<uint64_t> SizesUpTo(uint64_t max) {
  std::vector<uint64_t> sizes = {max};
  while (sizes.front() / 10 >= kSmallestSize) sizes.insert(sizes.begin(), sizes.front() / 10);
  return sizes;
}

std::string GrowthTable(const std::vector<GrowthPoint>& points) {
  std::string text =
      "| items | load, items/s | check p50, us | check p99, us | sweep, items/s | start, s | "
      "memory, MiB | disk, MiB |\n"
      "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const GrowthPoint& point : points) {
    absl::StrAppendFormat(&text, "| %s | %.0f | %.0f | %.0f | %.0f | %.2f | %.0f | %.0f |\n",
                          ItemsText(point.items), point.loaded_per_second, point.check_p50_us,
                          point.check_p99_us, point.swept_per_second, point.start_seconds,
                          point.memory_mib, point.disk_mib);
  }
  return text;
}

std::string GrowthJson(const std::vector<GrowthPoint>& points) {
  nlohmann::json json = nlohmann::json::array();
  for (const GrowthPoint& point : points) {
    json.push_back({{"items", point.items},
                    {"loaded_per_second", point.loaded_per_second},
                    {"check_p50_us", point.check_p50_us},
                    {"check_p99_us", point.check_p99_us},
                    {"swept_per_second", point.swept_per_second},
                    {"start_seconds", point.start_seconds},
                    {"memory_mib", point.memory_mib},
                    {"disk_mib", point.disk_mib}});
  }
  return json.dump(2) + "\n";
}

}  // namespace ttl::bench
