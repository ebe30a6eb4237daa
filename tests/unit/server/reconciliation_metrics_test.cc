#include "service/server/metrics/reconciliation_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/testing/scrape.h"

namespace ttl {
namespace {

using ::testing::ElementsAre;

Scrape Read(bool in_doubt, const std::optional<Reconciliation>& last) {
  MetricSheet sheet;
  AddReconciliationMetrics(in_doubt, last, sheet);
  return Scrape::Parse(prometheus::TextSerializer().Serialize(sheet.Take())).value();
}

// In the middle of the second of three containers.
Reconciliation UnderWay() {
  Reconciliation view;
  view.containers_done = 1;
  view.containers_total = 3;
  view.counts.scanned = 700;
  view.items = 200;
  view.estimated_items = 900;
  return view;
}

TEST(ReconciliationMetricsTest, BeforeTheFirstOneThereIsOnlyTheDoubt) {
  for (const bool in_doubt : {false, true}) {
    const Scrape scrape = Read(in_doubt, std::nullopt);
    EXPECT_THAT(scrape.Metrics(), ElementsAre("ttl_sidecar_data_in_doubt"));
    EXPECT_EQ(scrape.Value("ttl_sidecar_data_in_doubt"), in_doubt ? 1 : 0);
  }
}

TEST(ReconciliationMetricsTest, TheOneUnderWaySaysHowFarItIs) {
  const Scrape scrape = Read(false, UnderWay());
  EXPECT_EQ(scrape.Value("ttl_sidecar_reconciliation_scanned_items"), 700);
  EXPECT_EQ(scrape.Value("ttl_sidecar_reconciliation_containers{part=\"done\"}"), 1);
  EXPECT_EQ(scrape.Value("ttl_sidecar_reconciliation_containers{part=\"all\"}"), 3);
  EXPECT_EQ(scrape.Value("ttl_sidecar_reconciliation_container_items{part=\"read\"}"), 200);
  EXPECT_EQ(scrape.Value("ttl_sidecar_reconciliation_container_items{part=\"estimated\"}"), 900);
}

TEST(ReconciliationMetricsTest, AStoreThatDoesNotEstimateIsNotTakenForAnEmptyOne) {
  Reconciliation view = UnderWay();
  view.estimated_items.reset();
  EXPECT_FALSE(Read(false, view)
                   .Find("ttl_sidecar_reconciliation_container_items{part=\"estimated\"}")
                   .has_value());
}

TEST(ReconciliationMetricsTest, KindAndStateAreOneSeriesAtATime) {
  const std::pair<ReconciliationState, std::string> kStates[] = {
      {ReconciliationState::kRunning, "running"},
      {ReconciliationState::kWaiting, "waiting"},
      {ReconciliationState::kDone, "done"},
      {ReconciliationState::kFailed, "failed"},
      {ReconciliationState::kCancelled, "cancelled"}};
  for (const auto& [state, name] : kStates) {
    for (const bool rebuild : {false, true}) {
      Reconciliation view = UnderWay();
      view.rebuild = rebuild;
      view.state = state;
      const Scrape scrape = Read(rebuild, view);
      const std::string kind = rebuild ? "rebuild" : "reconciliation";
      EXPECT_EQ(scrape.Value(absl::StrCat("ttl_sidecar_reconciliation{kind=\"", kind, "\",state=\"",
                                          name, "\"}")),
                1);
      EXPECT_THAT(scrape.Labels("kind"), ElementsAre(kind));
      EXPECT_THAT(scrape.Labels("state"), ElementsAre(name));
    }
  }
}

}  // namespace
}  // namespace ttl
