// Does what the sidecar does to LevelDB, without the sidecar.
//
//   raw_leveldb load|write|write-singly|read|delete|report --dir DIR [--items N] [--batch N]
//       [--first N] [--in-flight N] [--feed] [--seed N] [--warm-up-ms MS] [--length-ms MS]
//       [--write-buffer-mib N] [--max-file-mib N] [--block-cache-mib N] [--bloom-bits N]
//
// report goes through the sidecar's commit queue, to be compared with write-singly. The
// last line is items per second and the cores kept busy.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "service/base/status_macros.h"
#include "tests/bench/raw/queued_reports.h"
#include "tests/bench/raw/raw_database.h"

namespace {

using ttl::bench::RawDatabase;
using ttl::bench::Sample;
using ttl::bench::Window;

struct Flags {
  std::string work;
  std::string directory;
  uint64_t items = 0;
  uint64_t batch = 100;
  uint64_t first = 0;
  int in_flight = 64;
  bool feed = false;
  uint64_t seed = 0;
  ttl::bench::RawOptions tuning;
  int64_t warm_up_ms = 300;
  int64_t length_ms = 1000;
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.add_option("work", flags.work)
      ->required()
      ->check(CLI::IsMember({"load", "write", "write-singly", "read", "delete", "report"}));
  app.add_option("--dir", flags.directory, "The database")->required();
  app.add_option("--items", flags.items,
                 "To load, or to report; of those loaded to read and delete");
  app.add_option("--batch", flags.batch, "Items written or deleted at once");
  app.add_option("--first", flags.first, "Items written by earlier runs");
  app.add_option("--in-flight", flags.in_flight, "Items written at once, each by itself")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--feed", flags.feed, "Report to a container with a feed");
  app.add_option("--seed", flags.seed, "Of the order of reads");
  app.add_option("--warm-up-ms", flags.warm_up_ms, "Not counted");
  app.add_option("--length-ms", flags.length_ms, "Counted");
  ttl::bench::RawOptions& tuning = flags.tuning;
  app.add_option("--write-buffer-mib", tuning.write_buffer_mib)->check(CLI::Range(1, 1024));
  app.add_option("--max-file-mib", tuning.max_file_mib)->check(CLI::Range(1, 1024));
  app.add_option("--block-cache-mib", tuning.block_cache_mib)->check(CLI::Range(1, 4096));
  app.add_option("--bloom-bits", tuning.bloom_bits)->check(CLI::Range(0, 32));
}

absl::StatusOr<Sample> Run(const Flags& flags) {
  const Window window{std::chrono::milliseconds(flags.warm_up_ms),
                      std::chrono::milliseconds(flags.length_ms)};
  if (flags.work == "report") {
    return ttl::bench::ReportThroughQueue(
        flags.directory, {flags.first, flags.in_flight, flags.feed, flags.items}, window);
  }
  TTL_ASSIGN_OR_RETURN(const auto database, RawDatabase::Open(flags.directory, flags.tuning));
  if (flags.work == "write-singly") {
    return database->WriteFromThreads(flags.first, flags.in_flight, window);
  }
  if (flags.work == "write") return database->WriteBatches(flags.first, flags.batch, window);
  if (flags.work == "read") return database->ReadRandomly(flags.items, flags.seed, window);
  if (flags.work == "delete") return database->DeleteAll(flags.items, flags.batch);
  TTL_RETURN_IF_ERROR(database->Load(flags.items));
  return Sample{};
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  Flags flags;
  CLI::App app("LevelDB alone");
  AddFlags(app, flags);
  CLI11_PARSE(app, argc, argv);
  const absl::StatusOr<Sample> sample = Run(flags);
  if (!sample.ok()) {
    absl::FPrintF(stderr, "error: %s\n", sample.status().ToString());
    return 1;
  }
  absl::PrintF("%.3f %.3f\n", sample->value, sample->generator_cores);
  return 0;
}
