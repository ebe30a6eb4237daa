#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "service/base/status_macros.h"
#include "service/storage/format/key_codec.h"
#include "service/storage/format/record_codec.h"
#include "service/storage/storage.h"
#include "tests/bench/speed/bench_processes.h"
#include "tests/bench/speed/item_names.h"
#include "tests/bench/speed/load_requests.h"
#include "tests/bench/speed/process_usage.h"
#include "tests/bench/speed/rows.h"
#include "tests/bench/speed/sidecar_setup.h"
#include "tests/testing/storage_for_test.h"
#include "tests/testing/temp_dir.h"

namespace ttl::bench {
namespace {

constexpr double kMib = 1 << 20;
constexpr double kCacheMib = 64 + 32;  // what the sidecar is started with, its defaults
constexpr double kMemoryAllowanceMib = 200;
constexpr int64_t kFewItems = 1000;

// A figure that is compared with another, both seen once.
Row SingleRow(std::string name, std::string work, std::string unit, double ours,
              std::string other_name, double other, Target target) {
  Row row{std::move(name), std::move(work), std::move(unit), {ours, ours, ours}, {}, ""};
  const double ratio = ours / other;
  row.comparisons = {{std::move(other_name), {other, other, other}, {ratio, ratio, ratio}, target}};
  return row;
}

// Fresh seeds, so that no round reads what an earlier one has brought into memory.
Measurement RawReadLoad(const std::string& directory, uint64_t items) {
  const auto seed = std::make_shared<uint64_t>(0);
  return [=](const Window& window) {
    std::vector<std::string> arguments = {"read", "--items", absl::StrCat(items), "--seed",
                                          absl::StrCat(++*seed)};
    for (const std::string& flag : WindowFlags(window)) arguments.push_back(flag);
    return RunRawLevelDb(directory, arguments);
  };
}

absl::StatusOr<Row> CheckCold(SidecarProcess& sidecar, const std::string& directory,
                              const RowOptions& options) {
  Contest contest;
  contest.name = "check-cold";
  contest.work = absl::StrCat("CheckVisibility, 100 keys, uniform over ", options.items, " items");
  contest.unit = "keys/s";
  contest.ours = CheckLoad(ServerOf(sidecar), {.batch = 100, .in_flight = 16}, options.items,
                           ItemsDrawn::kAnew);
  contest.opponents = {{"raw LevelDB Get, one thread", RawReadLoad(directory, options.items),
                        Target{Target::Kind::kAtLeast, 0.9}}};
  return Hold(contest, options.rounds);
}

Row Memory(SidecarProcess& sidecar, uint64_t items) {
  const double used = static_cast<double>(AnonymousBytes(sidecar.process()->pid())) / kMib;
  return SingleRow("memory",
                   absl::StrCat("anonymous memory at ", items, " items, after the checks"), "MiB",
                   used, "caches of 96 MiB + 200 MiB", kCacheMib + kMemoryAllowanceMib,
                   {Target::Kind::kAtMost, 1});
}

// Bytes of key and value of one record, without its index entry.
double RecordBytes() {
  StoredItem item;
  item.version.times.ts = absl::ToUnixSeconds(absl::Now());
  item.generation = 1;
  item.position = {1, IndexFamily::kTs, item.version.times.ts};
  return static_cast<double>(EncodeItemKey(1, {PartitionKeyOf(0), IdOf(0)}).size() +
                             EncodeItem(item).size());
}

Row Disk(const SidecarProcess& sidecar, uint64_t items) {
  const double used = static_cast<double>(DirectoryBytes(sidecar.data_dir())) / kMib;
  const double raw = RecordBytes() * static_cast<double>(items) / kMib;
  return SingleRow("disk", absl::StrCat("disk at ", items, " items, index and log included"), "MiB",
                   used, "keys and values of the items' records", raw, {Target::Kind::kAtMost, 2});
}

int64_t Operations(const OperationCounts& counts) {
  return counts.gets + counts.puts + counts.deletes + counts.seeks + counts.steps;
}

// LevelDB operations of a change of a container's default_ttl.
absl::StatusOr<int64_t> OperationsOfPolicyChange(Storage& storage, const std::string& id) {
  const auto halve = [](const Container& container) {
    ContainerSettings settings = container.settings;
    settings.policy.default_ttl = *settings.policy.default_ttl / 2;
    return settings;
  };
  const int64_t before = Operations(storage.Counts());
  const auto changed = Await<absl::StatusOr<ContainerPtr>>([&](auto done) {
    storage.containers().Update(id, halve, absl::Now(), absl::ZeroDuration(), /*force=*/false,
                                std::move(done));
  });
  TTL_RETURN_IF_ERROR(changed.status());
  return Operations(storage.Counts()) - before;
}

absl::StatusOr<int64_t> OperationsWithFewItems() {
  StorageForTest storage;
  storage.Create(kLoadedContainer, 86400);
  std::vector<ItemReport> reports;
  for (int64_t i = 0; i < kFewItems; ++i) {
    reports.push_back({KeyOf(absl::StrCat(i)), {{absl::ToUnixSeconds(kTestNow), {}}, "", {}, 0}});
  }
  TTL_RETURN_IF_ERROR(storage.Track(kLoadedContainer, std::move(reports)).status());
  return OperationsOfPolicyChange(*storage, kLoadedContainer);
}

// On the data of a sidecar that has ended.
absl::StatusOr<Row> PolicyChange(const std::string& data_dir, uint64_t items) {
  StorageOptions options;
  options.directory = data_dir;
  TTL_ASSIGN_OR_RETURN(const std::unique_ptr<Storage> storage, Storage::Open(options));
  TTL_ASSIGN_OR_RETURN(const int64_t many, OperationsOfPolicyChange(*storage, kLoadedContainer));
  TTL_ASSIGN_OR_RETURN(const int64_t few, OperationsWithFewItems());
  return SingleRow("policy-change", absl::StrCat("change of default_ttl over ", items, " items"),
                   "operations", static_cast<double>(many), "over 1,000 items",
                   static_cast<double>(few), {Target::Kind::kAtMost, 1});
}

}  // namespace

absl::StatusOr<std::vector<Row>> LargeSet(const RowOptions& options) {
  const TempDir directory;
  SidecarProcess sidecar(SidecarIn(directory.path()));
  TTL_RETURN_IF_ERROR(sidecar.Start());
  TTL_RETURN_IF_ERROR(LoadItems(sidecar.channel(), options.items));
  TTL_RETURN_IF_ERROR(
      RunRawLevelDb(directory.path(), {"load", "--items", absl::StrCat(options.items)}).status());
  AwaitQuiet(sidecar.process()->pid());
  std::vector<Row> rows;
  TTL_ASSIGN_OR_RETURN(rows.emplace_back(), CheckCold(sidecar, directory.path(), options));
  rows.push_back(Memory(sidecar, options.items));
  rows.push_back(Disk(sidecar, options.items));
  TTL_RETURN_IF_ERROR(sidecar.Stop());
  TTL_ASSIGN_OR_RETURN(rows.emplace_back(), PolicyChange(sidecar.data_dir(), options.items));
  return rows;
}

}  // namespace ttl::bench
