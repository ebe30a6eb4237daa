// Measures what the sidecar can do beside what could be done at most, and beside what
// others do. See tests/bench/README.md.
//
//   sidecar_bench [--quick] [--json FILE] [--only NAME,...] [--items N]
#include <grpc/grpc.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "service/base/status_macros.h"
#include "tests/bench/speed/machine_watch.h"
#include "tests/bench/speed/rows.h"

namespace {

using ttl::bench::MachineWatch;
using ttl::bench::Row;
using ttl::bench::RowGroup;
using ttl::bench::RowOptions;

struct Flags {
  bool quick = false;
  std::string json;
  std::vector<std::string> only;
  uint64_t items = 0;
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.add_flag("--quick", flags.quick, "Shorter windows and fewer items: under three minutes");
  app.add_option("--json", flags.json, "Write the rows to this file too");
  std::vector<std::string> names;
  for (const RowGroup& group : ttl::bench::AllGroups()) names.push_back(group.name);
  app.add_option("--only", flags.only, "Rows to measure")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option("--items", flags.items, "Items where their number matters")
      ->check(CLI::PositiveNumber);
}

RowOptions OptionsOf(const Flags& flags) {
  using std::chrono::milliseconds;
  RowOptions options;
  options.rounds = {7, {milliseconds(500), milliseconds(2000)}};
  if (flags.quick) {
    options.rounds = {3, {milliseconds(300), milliseconds(700)}};
    options.items = 1'000'000;
  }
  if (flags.items > 0) options.items = flags.items;
  return options;
}

std::string Machine() {
  utsname name{};
  uname(&name);
  std::ifstream cpu_info("/proc/cpuinfo");
  std::string line;
  std::string model;
  while (model.empty() && std::getline(cpu_info, line)) {
    if (line.rfind("model name", 0) == 0) model = line.substr(line.find(':') + 2);
  }
  return absl::StrFormat("%d cores, %s, %d MiB, %s %s", sysconf(_SC_NPROCESSORS_ONLN), model,
                         (sysconf(_SC_PHYS_PAGES) >> 10) * sysconf(_SC_PAGESIZE) >> 10,
                         name.sysname, name.release);
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", path));
}

// Says on standard error what it is at, since all rows take a while.
absl::Status Run(const Flags& flags) {
  const RowOptions options = OptionsOf(flags);
  const std::string started = absl::FormatTime(absl::RFC3339_sec, absl::Now(), absl::UTCTimeZone());
  std::vector<Row> rows;
  for (const RowGroup& group : ttl::bench::AllGroups()) {
    const auto wanted = std::find(flags.only.begin(), flags.only.end(), group.name);
    if (!flags.only.empty() && wanted == flags.only.end()) continue;
    absl::FPrintF(stderr, "measuring %s\n", group.name);
    MachineWatch watch;
    absl::StatusOr<std::vector<Row>> measured = group.measure(options);
    const std::string disturbance = watch.Finish();
    if (!measured.ok()) {
      return absl::Status(measured.status().code(),
                          absl::StrCat(group.name, ": ", measured.status().message()));
    }
    for (Row& row : *measured) row.disturbance = disturbance;
    rows.insert(rows.end(), measured->begin(), measured->end());
  }
  absl::PrintF("%s, %s\n\n%s", started, Machine(), ttl::bench::ToTable(rows));
  if (flags.json.empty()) return absl::OkStatus();
  const std::chrono::duration<double> window = options.rounds.window.length;
  return WriteFile(
      flags.json,
      ttl::bench::ToJson({started, Machine(), options.rounds.count, window.count()}, rows));
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Never paired: gRPC 1.51, shutting down with its last object, now and then waits ten
  // seconds for a poller.
  grpc_init();
  Flags flags;
  CLI::App app("What the sidecar can do, beside what can be done");
  AddFlags(app, flags);
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Run(flags);
  if (status.ok()) return 0;
  absl::FPrintF(stderr, "error: %s\n", status.ToString());
  return 1;
}
