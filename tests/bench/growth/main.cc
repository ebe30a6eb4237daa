// How the sidecar grows with what it tracks. See tests/bench/README.md.
//
//   growth_bench [--max 10M] [--json FILE]
//
// Prints a table in Markdown.
#include <grpc/grpc.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "service/base/status_macros.h"
#include "tests/bench/growth/growth_measurement.h"
#include "tests/bench/growth/growth_report.h"

namespace {

using ttl::bench::GrowthPoint;

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", path));
}

// Says on standard error what it is at, since the larger sizes take minutes.
absl::Status Run(const std::string& max, const std::string& json) {
  TTL_ASSIGN_OR_RETURN(const uint64_t largest, ttl::bench::ParseItems(max));
  std::vector<GrowthPoint> points;
  for (const uint64_t items : ttl::bench::SizesUpTo(largest)) {
    absl::FPrintF(stderr, "measuring %s items\n", ttl::bench::ItemsText(items));
    TTL_ASSIGN_OR_RETURN(const GrowthPoint point, ttl::bench::MeasureGrowth(items));
    points.push_back(point);
  }
  absl::PrintF("%s", ttl::bench::GrowthTable(points));
  return json.empty() ? absl::OkStatus() : WriteFile(json, ttl::bench::GrowthJson(points));
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Never paired: gRPC 1.51, shutting down with its last object, now and then waits ten
  // seconds for a poller.
  grpc_init();
  std::string max = "10M";
  std::string json;
  CLI::App app("The sidecar with more and more items");
  app.add_option("--max", max, "Most items, such as 1M; smaller sizes come first");
  app.add_option("--json", json, "Write the points to this file too");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Run(max, json);
  if (status.ok()) return 0;
  absl::FPrintF(stderr, "error: %s\n", status.ToString());
  return 1;
}
