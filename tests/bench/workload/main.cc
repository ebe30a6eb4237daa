// Generates the load of production clusters against a document store and its
// sidecar, and compares every answer with an oracle of its own. See tests/bench/workload.md.

#include <grpc/grpc.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "tests/bench/workload/wall_time.h"
#include "tests/bench/workload/workload.h"
#include "tests/testing/channel.h"

namespace {

using ttl::workload::ClusterProfile;
using ttl::workload::Tally;
using ttl::workload::Workload;
using ttl::workload::WorkloadOptions;

struct Flags {
  std::string store;
  std::string sidecar;
  std::vector<std::string> clusters;
  std::string mix = "production";
  int64_t operations = std::numeric_limits<int64_t>::max();
  double seconds = 10;
  bool verify = false;
  double verify_deadline_seconds = 300;
  double unavailable_deadline_seconds = 60;
};

void AddFlags(CLI::App& app, Flags& flags, WorkloadOptions& options) {
  app.add_option("--store", flags.store, "gRPC address of the document store")->required();
  app.add_option("--sidecar", flags.sidecar, "gRPC address of the sidecar, to create containers")
      ->required();
  auto* cluster = app.add_option("--cluster", flags.clusters,
                                 "A published cluster, as cluster12; may be repeated");
  app.add_option("--mix", flags.mix, "A blend of clusters instead")
      ->check(CLI::IsMember({"production"}))
      ->capture_default_str()
      ->excludes(cluster);
  app.add_option("--container-prefix", options.container_prefix, "Containers are PREFIX/CLUSTER")
      ->capture_default_str();
  app.add_option("--documents", options.documents, "Documents to load")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 32))
      ->capture_default_str();
  app.add_option("--operations", flags.operations, "Mixed operations at most (default no limit)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seconds", flags.seconds, "Mixed operations for so long")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--workers", options.workers, "Calls in flight at most")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--batch-documents", options.batch_documents, "Documents per PutDocuments in load")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of documents and operations")->capture_default_str();
  app.add_option("--ttl-scale", options.ttl_scale, "Multiplies every ttl; rounded, at least 1 s")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-value-bytes", options.max_value_bytes, "Longer values are cut")
      ->check(CLI::Range(8, 1 << 20))
      ->capture_default_str();
  app.add_option("--never-share", options.never_share, "Share of writes with ttl -1")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--probe-share", options.probe_share,
                 "Share of documents also read just before and after they expire")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_flag("--verify", flags.verify,
               "At the end wait until the store holds exactly the live documents, then compare "
               "all contents");
  app.add_option("--verify-deadline-seconds", flags.verify_deadline_seconds, "How long to wait")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--unavailable-deadline-seconds", flags.unavailable_deadline_seconds,
                 "How long the store may be away before the run fails")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

absl::StatusOr<std::vector<ClusterProfile>> SelectClusters(const Flags& flags) {
  if (flags.clusters.empty()) return ttl::workload::ProductionMix();
  std::vector<ClusterProfile> clusters;
  for (const std::string& name : flags.clusters) {
    absl::StatusOr<ClusterProfile> cluster = ttl::workload::FindCluster(name);
    if (!cluster.ok()) return cluster.status();
    clusters.push_back(*std::move(cluster));
  }
  return clusters;
}

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int64_t Operations(const Tally& tally) {
  return tally.puts + tally.creates + tally.replaces + tally.touches + tally.deletes + tally.gets +
         tally.queries;
}

void PrintPhase(const char* name, int64_t count, const char* unit, double seconds) {
  absl::PrintF("%-10s %10d %s in %.1f s (%.0f/s)\n", name, count, unit, seconds,
               static_cast<double>(count) / seconds);
  std::fflush(stdout);
}

void PrintTally(const Tally& tally) {
  absl::PrintF(
      "operations puts=%d creates=%d replaces=%d touches=%d deletes=%d gets=%d queries=%d\n",
      tally.puts, tally.creates, tally.replaces, tally.touches, tally.deletes, tally.gets,
      tally.queries);
  absl::PrintF("answers    shown=%d hidden=%d within_10ms_of_expiry=%d\n", tally.shown,
               tally.hidden, tally.at_boundary);
  absl::PrintF("failures   unanswered=%d resolved=%d\n", tally.unanswered, tally.resolved);
  for (const std::string& sample : tally.mismatch_samples) absl::PrintF("MISMATCH   %s\n", sample);
  absl::PrintF("mismatches=%d\n", tally.mismatches);
}

absl::Status Verify(Workload& workload, absl::Duration deadline) {
  const Stopwatch drained;
  absl::Status status = workload.AwaitExactStore(deadline);
  absl::PrintF("drained    after %.1f s: %s\n", drained.Seconds(),
               status.ok() ? "the store holds exactly the live documents" : status.ToString());
  const Stopwatch compared;
  const int64_t shown_before = workload.Total().shown;
  const absl::Status comparison = workload.CompareContents();
  PrintPhase("compared", workload.Total().shown - shown_before, "live documents",
             compared.Seconds());
  status.Update(comparison);
  return status;
}

absl::Status RunAll(const Flags& flags, const WorkloadOptions& options) {
  Workload workload(options, ttl::NewTestChannel(flags.store));
  absl::PrintF("workload   seed=%d ttl_scale=%g workers=%d containers=%d documents=%d\n",
               options.seed, options.ttl_scale, options.workers, workload.plans().size(),
               workload.planned_documents());
  absl::Status status = workload.CreateContainers(ttl::NewTestChannel(flags.sidecar));
  if (!status.ok()) return status;
  const std::atomic<bool> never_stop = false;
  const Stopwatch loaded;
  workload.Load(never_stop);
  PrintPhase("loaded", workload.Total().puts, "documents", loaded.Seconds());
  const Stopwatch ran;
  const int64_t before = Operations(workload.Total());
  workload.Run(absl::Seconds(flags.seconds), flags.operations, never_stop);
  PrintPhase("operated", Operations(workload.Total()) - before, "operations", ran.Seconds());
  absl::PrintF("live       %d of %d documents\n", workload.CountLive(ttl::WallNow()),
               workload.planned_documents());
  if (flags.verify) status = Verify(workload, absl::Seconds(flags.verify_deadline_seconds));
  PrintTally(workload.Total());
  if (workload.Total().mismatches > 0) {
    status.Update(absl::DataLossError("answers disagree with the oracle"));
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Never paired: gRPC 1.51, shutting down with its last object, now and then waits
  // ten seconds for a poller.
  grpc_init();
  Flags flags;
  WorkloadOptions options;
  CLI::App app("Production workload against a document store, judged by an oracle");
  AddFlags(app, flags, options);
  CLI11_PARSE(app, argc, argv);
  const auto clusters = SelectClusters(flags);
  absl::Status status = clusters.status();
  if (status.ok()) {
    options.clusters = *clusters;
    options.unavailable_deadline = absl::Seconds(flags.unavailable_deadline_seconds);
    status = RunAll(flags, options);
  }
  absl::PrintF("%s\n", status.ok() ? "PASSED" : "FAILED: " + status.ToString());
  return status.ok() ? 0 : 1;
}
