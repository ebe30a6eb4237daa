#include "service/server/metrics/storage_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/scrape.h"
#include "tests/testing/storage_for_test.h"

namespace ttl {
namespace {

constexpr int64_t kT = 1'800'000'000;

Scrape ReadFigures(const StorageFigures& figures) {
  MetricSheet sheet;
  AddStorageMetrics(figures, sheet);
  return Scrape::Parse(prometheus::TextSerializer().Serialize(sheet.Take())).value();
}

double Value(StorageForTest& storage, const std::string& name) {
  return ReadFigures(storage->Figures()).Value("ttl_sidecar_" + name);
}

TEST(StorageMetricsTest, EachCommitCountsOnceWithAllThatSharedIt) {
  StorageForTest storage;
  storage.Create("c", 100);
  const double commits = Value(storage, "commit_operations_count");
  const double operations = Value(storage, "commit_operations_sum");
  for (int i = 0; i < 5; ++i) storage.TrackOne("c", absl::StrCat(i), kT);
  EXPECT_EQ(Value(storage, "commit_operations_count"), commits + 5);
  EXPECT_EQ(Value(storage, "commit_operations_sum"), operations + 5);
  EXPECT_EQ(Value(storage, "commit_duration_seconds_count"), commits + 5);
  EXPECT_GT(Value(storage, "commit_duration_seconds_sum"), 0);
}

TEST(StorageMetricsTest, EachWriteHasOneSync) {
  StorageForTest storage;
  storage.Create("c", 100);
  const double writes = Value(storage, "storage_write_duration_seconds_count");
  const double syncs = Value(storage, "storage_sync_duration_seconds_count");
  for (int i = 0; i < 5; ++i) storage.TrackOne("c", absl::StrCat(i), kT);
  EXPECT_EQ(Value(storage, "storage_write_duration_seconds_count"), writes + 5);
  EXPECT_EQ(Value(storage, "storage_sync_duration_seconds_count"), syncs + 5);
  EXPECT_GE(Value(storage, "storage_write_duration_seconds_sum"),
            Value(storage, "storage_sync_duration_seconds_sum"));
  EXPECT_GE(Value(storage, "storage_stall_seconds_total"), 0);
}

TEST(StorageMetricsTest, SyncsAreCountedOverAReopening) {
  StorageForTest storage;
  storage.Create("c", 100);
  storage.env().FailWrites(true);
  ItemReport report;
  report.key = KeyOf("a");
  report.version.times = {kT, std::nullopt};
  EXPECT_FALSE(storage.Track("c", {report}).ok());
  storage.env().FailWrites(false);
  storage.FinishHousekeeping();
  const double syncs = Value(storage, "storage_sync_duration_seconds_count");
  storage.TrackOne("c", "a", kT);
  EXPECT_EQ(Value(storage, "storage_sync_duration_seconds_count"), syncs + 1);
  EXPECT_EQ(Value(storage, "commit_failures_total"), 1);
}

TEST(StorageMetricsTest, LookupsAreHitsOrMisses) {
  StorageForTest storage;
  storage.Create("c", 100);
  storage.TrackOne("c", "a", kT);
  const double hits = Value(storage, "cache_lookups_total{result=\"hit\"}");
  const double misses = Value(storage, "cache_lookups_total{result=\"miss\"}");
  ASSERT_TRUE(storage.FindTimes("c", "a").ok());
  EXPECT_EQ(Value(storage, "cache_lookups_total{result=\"hit\"}"), hits + 1);
  ASSERT_TRUE(storage.FindTimes("c", "never heard of").ok());
  EXPECT_EQ(Value(storage, "cache_lookups_total{result=\"miss\"}"), misses + 1);
  storage.FindItem("c", "a");
  EXPECT_EQ(Value(storage, "cache_lookups_total{result=\"hit\"}"), hits + 2);
  EXPECT_GT(Value(storage, "cache_bytes"), 0);
  EXPECT_LE(Value(storage, "cache_bytes"), Value(storage, "cache_limit_bytes"));
}

TEST(StorageMetricsTest, WhatIsRefusedCountsByReason) {
  StorageOptions small;
  small.max_queued_bytes = 1;
  StorageForTest storage(small);
  storage.Create("c", 100);
  EXPECT_EQ(Value(storage, "refused_writes_total{reason=\"queue_full\"}"), 0);
  ItemReport report;
  report.key = KeyOf("a");
  report.version.times = {kT, std::nullopt};
  EXPECT_FALSE(storage.Track("c", {report}).ok());
  EXPECT_EQ(Value(storage, "refused_writes_total{reason=\"queue_full\"}"), 1);
  EXPECT_EQ(Value(storage, "refused_writes_total{reason=\"disk_floor\"}"), 0);
  EXPECT_EQ(Value(storage, "queued_report_bytes_limit"), 1);
}

TEST(StorageMetricsTest, OperationsOnLevelDbAreCounted) {
  StorageForTest storage;
  storage.Create("c", 100);
  const double puts = Value(storage, "storage_operations_total{operation=\"put\"}");
  storage.TrackOne("c", "a", kT);
  EXPECT_GT(Value(storage, "storage_operations_total{operation=\"put\"}"), puts);
  EXPECT_GT(Value(storage, "storage_memory_bytes"), 0);
}

TEST(StorageMetricsTest, LevelsAreThoseOfLevelDb) {
  StorageForTest storage;
  storage.Create("c", 100);
  storage.TrackOne("c", "a", kT);
  storage.Reopen();  // writes the log's contents to a table
  const Scrape scrape = ReadFigures(storage->Figures());
  double files = 0;
  for (const std::string& level : scrape.Labels("level")) {
    files += scrape.Value(absl::StrCat("ttl_sidecar_leveldb_level_files{level=\"", level, "\"}"));
  }
  EXPECT_GE(files, 1) << scrape.text();
  EXPECT_GT(scrape.Value("ttl_sidecar_storage_table_bytes"), 0);
}

TEST(StorageMetricsTest, TheDiskIsShownBesideItsFloors) {
  StorageFigures figures;
  figures.commits.free_bytes = 300;
  figures.commits.report_floor_bytes = 200;
  figures.commits.outcome_floor_bytes = 100;
  const Scrape scrape = ReadFigures(figures);
  EXPECT_EQ(scrape.Value("ttl_sidecar_disk_free_bytes"), 300);
  EXPECT_EQ(scrape.Value("ttl_sidecar_disk_floor_bytes{place=\"reports\"}"), 200);
  EXPECT_EQ(scrape.Value("ttl_sidecar_disk_floor_bytes{place=\"changes\"}"), 100);
  figures.commits.free_bytes = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(ReadFigures(figures).Find("ttl_sidecar_disk_free_bytes").has_value());
}

}  // namespace
}  // namespace ttl
