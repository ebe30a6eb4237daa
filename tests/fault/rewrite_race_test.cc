// Items that are written again, or deleted and created anew, while their delete is on
// its way to the store: none may be lost. Every try is one such item; what the store
// holds afterwards must be what its users wrote last.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "service/base/mutex.h"
#include "tests/testing/sweep_harness.h"

namespace ttl {
namespace {

constexpr int kTriesPerVariant = 25'000;
constexpr int kItemsPerRound = 400;
const std::string kContainer = "c";

struct Variant {
  const char* name;
  bool with_etags;
  // The store's clock falls back by 2 s without the sidecar knowing, and catches up
  // again, from one round to the next.
  bool clock_behind;

  friend void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }
};

uint64_t Seed() {
  const char* given = std::getenv("TTL_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

// A call that a machine that stalls takes for over would be followed by the next while the store is
// still at work on it, and they would not take turns.
SweeperOptions Patient() {
  SweeperOptions options;
  options.delete_deadline = absl::Minutes(1);
  return options;
}

class Race {
 public:
  Race(const Variant& variant, uint64_t seed) : variant_(variant), random_(seed) {
    h_.store.SetComparesEtags(variant.with_etags);
    h_.storage.Create(kContainer, 2);
    h_.store.SetBeforeDelete([this](const auto& request, auto&) {
      Interfere(request);
      return std::optional<grpc::Status>();
    });
  }

  void Run() {
    for (int round = 0; tries_ < kTriesPerVariant && !testing::Test::HasFailure(); ++round) {
      h_.SetStoreClockOffset(IsBehind(round) ? -absl::Seconds(2) : absl::ZeroDuration());
      RunRound();
    }
    EXPECT_GE(tries_, kTriesPerVariant);
    EXPECT_GT(deleted_in_races_, 0) << "no item was deleted, so nothing was at risk";
    LetAllExpire();
  }

 private:
  bool IsBehind(int round) const { return variant_.clock_behind && round % 2 == 1; }

  int64_t StoreNow() const { return h_.Now() + (h_.store_clock_offset() / absl::Seconds(1)); }

  int Pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

  ItemVersion NewVersion(std::optional<int64_t> ttl) {
    ItemVersion version;
    version.times = {StoreNow(), ttl};
    version.etag = absl::StrCat("v", ++versions_);
    return version;
  }

  // Items with and without a ttl of their own, all expired by our clock when the
  // sweep begins.
  void RunRound() {
    late_reports_.clear();
    std::vector<ItemReport> reports;
    for (int i = 0; i < kItemsPerRound; ++i) {
      const std::optional<int64_t> ttl = i % 2 == 0 ? std::optional<int64_t>(1) : std::nullopt;
      const ItemVersion version = NewVersion(ttl);
      written_[KeyOf(absl::StrCat(i))] = version;
      h_.store.Put(kContainer, KeyOf(absl::StrCat(i)), version);
      reports.push_back({KeyOf(absl::StrCat(i)), version});
    }
    Report(std::move(reports));
    for (int seconds = 0; seconds < 5; ++seconds) {
      h_.clock.Advance(absl::Seconds(1));
      Sweep();
      Report(std::exchange(late_reports_, {}));
      CheckNothingIsLost();
    }
  }

  void Sweep() {
    while (h_.Step().wait == absl::ZeroDuration()) Join();
    Join();
  }

  void Join() {
    MutexLock lock(mutex_);
    if (writer_.joinable()) writer_.join();
    for (auto& [key, version] : written_by_thread_) written_[key] = version;
    written_by_thread_.clear();
  }

  // Runs at the store, after receipt. Half of what is to be changed changes before the
  // deletes are carried out, half while they are.
  void Interfere(const v1::DeleteItemsRequest& request) {
    MutexLock lock(mutex_);
    std::vector<ItemReport> reports;
    std::vector<std::pair<ItemKey, ItemVersion>> for_thread;
    for (const v1::ExpiredItem& item : request.items()) {
      const ItemKey key = {item.partition_key(), item.id()};
      std::optional<int64_t> ttl;
      if (item.has_ttl()) ttl = item.ttl();
      const int choice = Pick(8);
      if (choice == 0) continue;  // left to be deleted
      ++tries_;
      // Most keep their ttl: only _ts, etag and the clock tell them apart.
      const ItemVersion version = NewVersion(choice == 1 ? std::optional<int64_t>(4) : ttl);
      if (choice >= 5) {
        for_thread.push_back({key, version});
        continue;
      }
      if (choice >= 3) h_.store.Erase(kContainer, key);
      h_.store.Put(kContainer, key, version);
      written_[key] = version;
      (choice % 2 == 0 ? reports : late_reports_).push_back({key, version});
    }
    Report(std::move(reports));
    StartWriter(std::move(for_thread));
  }

  void StartWriter(std::vector<std::pair<ItemKey, ItemVersion>> writes) {
    for (const auto& [key, version] : writes) late_reports_.push_back({key, version});
    written_by_thread_ = std::move(writes);
    writer_ = std::thread([this, writes = written_by_thread_] {
      for (const auto& [key, version] : writes) h_.store.Put(kContainer, key, version);
    });
  }

  void Report(std::vector<ItemReport> reports) {
    if (reports.empty()) return;
    ASSERT_TRUE(h_.storage.Track(kContainer, std::move(reports)).ok());
  }

  // What is missing must have expired by the store's own clock.
  void CheckNothingIsLost() {
    for (auto it = written_.begin(); it != written_.end();) {
      const auto& [key, version] = *it;
      const std::optional<ItemVersion> found = h_.store.Find(kContainer, key);
      const int64_t expire_time = version.times.ts + version.times.ttl.value_or(2);
      if (found.has_value()) {
        ASSERT_EQ(found->etag, version.etag) << variant_.name << " item " << key.id;
        ++it;
        continue;
      }
      ASSERT_LE(expire_time, StoreNow()) << variant_.name << ": lost item " << key.id;
      ++deleted_in_races_;
      it = written_.erase(it);
    }
  }

  void LetAllExpire() {
    h_.store.SetBeforeDelete(nullptr);
    h_.SetStoreClockOffset(absl::ZeroDuration());
    h_.SweepFor(absl::Minutes(1));
    EXPECT_EQ(h_.store.CountAll(), 0) << "expired items were forgotten";
  }

  // Between this thread and the store's, which take turns.
  Mutex mutex_;
  const Variant variant_;
  std::mt19937_64 random_;
  SweepHarness h_{Patient()};
  int64_t versions_ = 0;
  int tries_ = 0;
  int64_t deleted_in_races_ = 0;
  std::map<ItemKey, ItemVersion> written_;  // by users, last
  std::vector<ItemReport> late_reports_;    // after the answer to the deletes
  std::vector<std::pair<ItemKey, ItemVersion>> written_by_thread_;
  std::thread writer_;
};

class RewriteRaceTest : public testing::TestWithParam<Variant> {};

TEST_P(RewriteRaceTest, NoItemWrittenWhileItsDeleteIsOnItsWayIsLost) {
  const uint64_t seed = Seed();
  std::cout << "seed " << seed << " (set TTL_TEST_SEED to repeat)" << std::endl;
  Race(GetParam(), seed).Run();
}

INSTANTIATE_TEST_SUITE_P(Clocks, RewriteRaceTest,
                         testing::Values(Variant{"Level", false, false},
                                         Variant{"LevelEtags", true, false},
                                         Variant{"Behind", false, true},
                                         Variant{"BehindEtags", true, true}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ttl
