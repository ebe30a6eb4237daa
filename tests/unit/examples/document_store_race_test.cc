// No live document may be lost when it is changed while its delete is on the
// way, with the store's clock level with the sidecar's or 2 s behind, with and
// without etags.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "client/cpp/store/conditional_delete.h"
#include "tests/unit/examples/document_store_for_test.h"

namespace documentstore {
namespace {

// Seconds that the store's clock is behind, and whether deletes carry etags.
class DocumentStoreRaceTest : public testing::TestWithParam<std::tuple<int64_t, bool>> {
 protected:
  static int64_t store_behind() { return std::get<0>(GetParam()); }
  static bool with_etag() { return std::get<1>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Clocks, DocumentStoreRaceTest,
                         testing::Combine(testing::Values(0, 2), testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == 0 ? "Level" : "Behind") +
                                  (std::get<1>(info.param) ? "WithEtag" : "WithoutEtag");
                         });

// What a client does between the judgement and the arrival of the delete.
struct Interruption {
  std::string name;
  std::function<void(DocumentStoreForTest&)> act;
};

std::vector<Interruption> Interruptions() {
  const auto lift_ttl = [](DocumentStoreForTest& test) {
    test.sidecar.SetContainer(kContainer, std::nullopt);
  };
  return {
      {"put", [](auto& test) { EXPECT_TRUE(test.Put("a", 10).ok()); }},
      {"put with the same ttl a second later",
       [](auto& test) {
         test.clocks.Advance(1);
         EXPECT_TRUE(test.Put("a", 10).ok());
       }},
      {"put without ttl", [](auto& test) { EXPECT_TRUE(test.Put("a").ok()); }},
      {"create", [](auto& test) { EXPECT_TRUE(test.Create("a", 10).ok()); }},
      {"create, delete, create",
       [](auto& test) {
         EXPECT_TRUE(test.Create("a", 10).ok());
         EXPECT_TRUE(test.Delete("a").ok());
         EXPECT_TRUE(test.Create("a", 10).ok());
       }},
      {"touch after the policy was loosened",
       [=](auto& test) {
         lift_ttl(test);
         EXPECT_TRUE(test.Touch("a").ok());
       }},
      {"replace after the policy was loosened",
       [=](auto& test) {
         lift_ttl(test);
         EXPECT_TRUE(test.Replace("a", 10).ok());
       }},
      {"delete and create after the policy was loosened",
       [=](auto& test) {
         lift_ttl(test);
         EXPECT_TRUE(test.Delete("a").ok());
         EXPECT_TRUE(test.Create("a", 10).ok());
       }},
  };
}

TEST_P(DocumentStoreRaceTest, DeleteThatArrivesAfterAChangeLeavesTheNewVersion) {
  for (const Interruption& interruption : Interruptions()) {
    SCOPED_TRACE(interruption.name);
    DocumentStoreForTest test(store_behind());
    ASSERT_TRUE(test.Put("a", 10).ok());
    test.clocks.Advance(10);
    const auto request = test.Sweep(with_etag());
    ASSERT_EQ(request.items_size(), 1);
    interruption.act(test);
    const auto response = ttl::DeleteExpiredItems(test.store().primary_store, request);
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response->results(0).outcome(), ttl::v1::DELETE_OUTCOME_MODIFIED);
    EXPECT_EQ(test.CountStored(), 1);
  }
}

// ts and ttl are those of the judged version, so only etag and clock tell.
TEST_P(DocumentStoreRaceTest, RewriteWithinTheSecondOfTsLivesAsLongAsItShould) {
  DocumentStoreForTest test(store_behind());
  ASSERT_TRUE(test.Put("a", 2).ok());
  test.clocks.Advance(store_behind() == 0 ? 2 : 0);
  const auto request = test.Sweep(with_etag());
  ASSERT_EQ(request.items_size(), 1) << "2 s behind, it is expired when written";
  test.clocks.Advance(store_behind() == 0 ? -2 : 0);
  ASSERT_TRUE(test.Put("a", 2).ok());
  for (int second = 0; second < 2; ++second) {
    const auto response = ttl::DeleteExpiredItems(test.store().primary_store, request);
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response->results(0).outcome(),
              with_etag() ? ttl::v1::DELETE_OUTCOME_MODIFIED : ttl::v1::DELETE_OUTCOME_NOT_EXPIRED);
    EXPECT_EQ(test.CountStored(), 1);
    test.clocks.Advance(1);
  }
}

// Deletes what is expired, at once and once more much later, until told to stop.
class Sweeper {
 public:
  Sweeper(DocumentStoreForTest& test, bool with_etag)
      : test_(test), with_etag_(with_etag), thread_([this] { Run(); }) {}
  ~Sweeper() { Stop(); }

  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  // Deletes have removed what had expired, and have found what was written again.
  bool RaceTookPlace() const { return deleted_ > 0 && modified_ > 0; }

 private:
  void Run() {
    std::deque<ttl::v1::DeleteItemsRequest> late;
    while (!stop_) {
      late.push_back(test_.Sweep(with_etag_));
      Send(late.back());
      if (late.size() < 20) continue;
      Send(late.front());
      late.pop_front();
    }
  }

  void Send(ttl::v1::DeleteItemsRequest request) {
    if (request.items_size() == 0) return std::this_thread::yield();
    request.mutable_not_after()->set_seconds(test_.clocks.now() + 60);
    const auto response = ttl::DeleteExpiredItems(test_.store().primary_store, request);
    ASSERT_TRUE(response.ok()) << response.status();
    for (const auto& result : response->results()) {
      if (result.outcome() == ttl::v1::DELETE_OUTCOME_DELETED) ++deleted_;
      if (result.outcome() == ttl::v1::DELETE_OUTCOME_MODIFIED) ++modified_;
    }
  }

  DocumentStoreForTest& test_;
  const bool with_etag_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> deleted_ = 0;
  std::atomic<int> modified_ = 0;
  std::thread thread_;
};

// The only writer of one document: after every acknowledged write, the document
// may be gone only if the store's clock has reached its deadline.
class Writer {
 public:
  Writer(DocumentStoreForTest& test, std::string id, int seed)
      : test_(test), id_(std::move(id)), random_(seed) {}

  void Run(int tries) {
    for (int i = 0; i < tries && !testing::Test::HasFailure(); ++i) {
      if (i % 4 == 3) test_.clocks.Advance(1);
      const auto written = Write();
      if (written.ok()) ExpectNotLost(*written);
    }
  }

 private:
  absl::StatusOr<v1::Document> Write() {
    const int64_t ttl = std::uniform_int_distribution<int>(1, 4)(random_);
    switch (std::uniform_int_distribution<int>(0, 3)(random_)) {
      case 0:
        return test_.Put(id_, ttl);
      case 1:
        return test_.Touch(id_);
      case 2:
        return test_.Replace(id_, ttl);
      default:
        if (auto status = test_.Delete(id_); !status.ok() && !absl::IsNotFound(status)) {
          ADD_FAILURE() << status;
        }
        return test_.Create(id_, ttl);
    }
  }

  void ExpectNotLost(const v1::Document& written) {
    const auto stored = test_.store().table->Get({kContainer, kPartition, id_});
    const int64_t now = test_.clocks.now();
    ASSERT_TRUE(stored.ok()) << stored.status();
    if (!*stored) {
      EXPECT_GE(now, written.ts() + written.ttl()) << "lost: " << written.ShortDebugString();
    }
  }

  DocumentStoreForTest& test_;
  const std::string id_;
  std::mt19937 random_;
};

TEST_P(DocumentStoreRaceTest, NoLiveDocumentIsLostUnderConcurrentDeletes) {
  constexpr int kWriters = 3;
  constexpr int kTries = 400;
  DocumentStoreForTest test(store_behind());
  Sweeper sweeper(test, with_etag());
  // Once, as a rule; more often where the sweeper hardly gets to run.
  for (int round = 0; round < 50 && !sweeper.RaceTookPlace(); ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kWriters; ++i) {
      const int seed = round * kWriters + i;
      threads.emplace_back(
          [&test, i, seed] { Writer(test, "w" + std::to_string(i), seed).Run(kTries); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  sweeper.Stop();
  EXPECT_TRUE(sweeper.RaceTookPlace());
  EXPECT_EQ(test.store().table->CountUnreported(), 0);
}

}  // namespace
}  // namespace documentstore
