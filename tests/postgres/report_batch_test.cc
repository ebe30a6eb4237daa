#include "client/postgres/capture/reports/report_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ttl::postgres {
namespace {

Report Tracked(const std::string& id, uint64_t sequence) {
  v1::Item item;
  item.set_id(id);
  item.set_ts(static_cast<int64_t>(sequence));
  item.set_sequence(sequence);
  return Report::Tracked(item);
}

Report Gone(const std::string& id, uint64_t sequence) { return Report::Gone("", id, sequence); }

// "-a@5 +b@7" in the order in which they are sent.
std::string Sent(ReportBatch& batch) {
  std::vector<std::string> sent;
  for (const v1::StreamTrackItemsRequest& message : batch.Take()) {
    for (const v1::ItemDeletion& item : message.untrack().items()) {
      sent.push_back(absl::StrCat("-", item.id(), "@", item.sequence()));
    }
    for (const v1::Item& item : message.request().items()) {
      sent.push_back(absl::StrCat("+", item.id(), "@", item.sequence()));
    }
  }
  return absl::StrJoin(sent, " ");
}

TEST(ReportBatchTest, DeletesAndWritesAreOneMessageEach) {
  ReportBatch batch("c");
  EXPECT_TRUE(batch.Add(Tracked("a", 1)));
  EXPECT_TRUE(batch.Add(Gone("b", 2)));
  EXPECT_TRUE(batch.Add(Tracked("c", 3)));
  const auto messages = batch.Take();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].untrack().container(), "c");
  EXPECT_EQ(messages[0].untrack().items_size(), 1);
  EXPECT_EQ(messages[1].request().container(), "c");
  EXPECT_EQ(messages[1].request().items_size(), 2);
  EXPECT_TRUE(batch.empty());
  EXPECT_THAT(batch.Take(), testing::IsEmpty());
}

TEST(ReportBatchTest, WhatWasReadIsAdoptedAndWhatWasWrittenIsNot) {
  ReportBatch batch("c");
  Report read = Tracked("a", 1);
  read.is_adopted = true;
  Report overtaken = Tracked("b", 1);
  overtaken.is_adopted = true;
  batch.Add(std::move(read));
  batch.Add(std::move(overtaken));
  batch.Add(Tracked("b", 2));
  const auto messages = batch.Take();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_TRUE(messages[0].request().adopted());
  EXPECT_EQ(messages[0].request().items(0).id(), "a");
  EXPECT_FALSE(messages[1].request().adopted());
  EXPECT_EQ(messages[1].request().items(0).id(), "b");
}

TEST(ReportBatchTest, OfOneKeyTheLastIsSent) {
  ReportBatch batch("c");
  batch.Add(Tracked("a", 1));
  batch.Add(Gone("a", 2));
  batch.Add(Tracked("a", 2));
  batch.Add(Tracked("b", 3));
  batch.Add(Gone("b", 3));
  EXPECT_EQ(Sent(batch), "-b@3 +a@2");
}

TEST(ReportBatchTest, WhatIsOlderIsDropped) {
  ReportBatch batch("c");
  batch.Add(Tracked("a", 5));
  EXPECT_TRUE(batch.Add(Tracked("a", 4)));
  EXPECT_TRUE(batch.Add(Gone("a", 3)));
  batch.Add(Gone("b", 5));
  EXPECT_TRUE(batch.Add(Gone("b", 4)));
  EXPECT_EQ(Sent(batch), "-b@5 +a@5");
}

TEST(ReportBatchTest, OlderWriteAfterDeleteWaitsForTheNextBatch) {
  ReportBatch batch("c");
  batch.Add(Gone("a", 5));
  Report older = Tracked("a", 4);
  EXPECT_FALSE(batch.Add(std::move(older)));
  EXPECT_EQ(Sent(batch), "-a@5");
  EXPECT_TRUE(batch.Add(std::move(older)));
  EXPECT_EQ(Sent(batch), "+a@4");
}

TEST(ReportBatchTest, IsFullByCountAndBySize) {
  ReportBatch batch("c");
  for (size_t i = 0; i + 1 < ReportBatch::kMaxReports; ++i) batch.Add(Tracked(absl::StrCat(i), 1));
  EXPECT_FALSE(batch.IsFull());
  batch.Add(Tracked("last", 1));
  EXPECT_TRUE(batch.IsFull());
  ReportBatch small("c", 1000);
  small.Add(Tracked(std::string(1000, 'x'), 1));
  EXPECT_TRUE(small.IsFull());
}

TEST(ReportBatchTest, PartitionKeyAndIdAreKeptApart) {
  ReportBatch batch("c");
  batch.Add(Report::Gone("a", "bc", 1));
  batch.Add(Report::Gone("ab", "c", 1));
  EXPECT_EQ(batch.Take().at(0).untrack().items_size(), 2);
}

// What the sidecar knows, by its rules: an older report changes nothing, a delete leaves nothing.
class Model {
 public:
  void Apply(const std::string& id, uint64_t sequence, bool is_gone) {
    const auto found = tracked_.find(id);
    if (found != tracked_.end() && sequence < found->second) return;
    if (is_gone) {
      tracked_.erase(id);
    } else {
      tracked_[id] = sequence;
    }
  }
  void Apply(const std::vector<v1::StreamTrackItemsRequest>& messages) {
    for (const auto& message : messages) {
      for (const auto& item : message.untrack().items()) Apply(item.id(), item.sequence(), true);
      for (const auto& item : message.request().items()) Apply(item.id(), item.sequence(), false);
    }
  }
  friend bool operator==(const Model&, const Model&) = default;

 private:
  std::map<std::string, uint64_t> tracked_;
};

RC_GTEST_PROP(ReportBatchProperty, ComesToWhatTheReportsOneByOneComeTo, ()) {
  const int count = *rc::gen::inRange(0, 60);
  Model one_by_one;
  Model batched;
  // What was tracked before.
  for (const char* id : {"a", "b", "c"}) {
    const auto sequence = *rc::gen::inRange<uint64_t>(1, 10);
    one_by_one.Apply(id, sequence, false);
    batched.Apply(id, sequence, false);
  }
  ReportBatch batch("c");
  for (int i = 0; i < count; ++i) {
    const std::string id(1, *rc::gen::inRange('a', 'd'));
    const auto sequence = *rc::gen::inRange<uint64_t>(1, 10);
    const bool is_gone = *rc::gen::arbitrary<bool>();
    one_by_one.Apply(id, sequence, is_gone);
    Report report = is_gone ? Gone(id, sequence) : Tracked(id, sequence);
    if (!batch.Add(std::move(report))) {
      batched.Apply(batch.Take());
      RC_ASSERT(batch.Add(std::move(report)));
    }
    if (*rc::gen::inRange(0, 8) == 0) batched.Apply(batch.Take());
  }
  batched.Apply(batch.Take());
  RC_ASSERT(batched == one_by_one);
}

}  // namespace
}  // namespace ttl::postgres
