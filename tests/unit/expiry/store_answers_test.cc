#include "service/expiry/store/store_answers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "service/core/state/published_sweep.h"
#include "service/storage/expiry_index.h"

namespace ttl {
namespace {

using Kind = DeleteReport::Kind;

constexpr int64_t kNow = 10'000;
constexpr int64_t kTs = 5000;
constexpr int64_t kTtl = 60;
constexpr int64_t kNever = -1;

// One item that was judged expired, and the request that asked to delete it.
struct Sent {
  std::vector<DueItem> items;
  v1::DeleteItemsRequest request;
};

Sent MakeSent(int count = 1, int32_t attempts = 0) {
  Sent sent;
  for (int i = 0; i < count; ++i) {
    DueItem& item = sent.items.emplace_back();
    item.key = {"p", std::to_string(i)};
    item.item.version.times = {kTs, kTtl};
    item.item.version.etag = "e1";
    item.item.generation = 42;
    item.item.attempts = attempts;
    v1::ExpiredItem* expired = sent.request.add_items();
    expired->set_etag("e1");
    expired->set_expire_time(kTs + kTtl);
  }
  return sent;
}

StoreAnswers Read(const Sent& sent, const v1::DeleteItemsResponse& response) {
  return ReadAnswers(sent.items, sent.request, response,
                     {.default_ttl = kNever, .now = absl::FromUnixSeconds(kNow)});
}

using SetUp = std::function<void(v1::DeleteItemsResponse&, v1::DeleteResult&)>;

StoreAnswers ReadOne(v1::DeleteOutcome outcome, const SetUp& set_up = nullptr,
                     int32_t attempts = 0) {
  v1::DeleteItemsResponse response;
  v1::DeleteResult& result = *response.add_results();
  result.set_outcome(outcome);
  if (set_up) set_up(response, result);
  return Read(MakeSent(1, attempts), response);
}

SetUp ThrottledFor(v1::ThrottleReason reason) {
  return [=](v1::DeleteItemsResponse&, v1::DeleteResult& result) {
    result.set_throttle_reason(reason);
  };
}

SetUp Current(int64_t ts, std::optional<int64_t> ttl, const std::string& etag) {
  return [=](v1::DeleteItemsResponse&, v1::DeleteResult& result) {
    result.mutable_current()->set_ts(ts);
    if (ttl.has_value()) result.mutable_current()->set_ttl(*ttl);
    result.mutable_current()->set_etag(etag);
  };
}

SetUp StoreNow(int64_t seconds, int32_t nanos = 0) {
  return [=](v1::DeleteItemsResponse& response, v1::DeleteResult&) {
    response.mutable_store_now()->set_seconds(seconds);
    response.mutable_store_now()->set_nanos(nanos);
  };
}

TEST(StoreAnswersTest, EveryOutcomeHasItsMeaning) {
  struct Case {
    const char* name;
    StoreAnswers answers;
    int64_t DeleteTally::*counted;
    std::optional<Kind> kind;
    std::optional<int64_t> retry_time = std::nullopt;
    bool counts_as_attempt = false;
  };
  const int64_t next_try = kNow + 1;
  const Case cases[] = {
      {"deleted", ReadOne(v1::DELETE_OUTCOME_DELETED), &DeleteTally::deleted, Kind::kGone},
      {"not found", ReadOne(v1::DELETE_OUTCOME_NOT_FOUND), &DeleteTally::not_found, Kind::kGone},
      {"rewritten", ReadOne(v1::DELETE_OUTCOME_MODIFIED, Current(kNow - 59, kTtl, "e2")),
       &DeleteTally::modified, Kind::kModified},
      {"rewritten, and expired again",
       ReadOne(v1::DELETE_OUTCOME_MODIFIED, Current(kNow - 60, kTtl, "e2")), &DeleteTally::modified,
       Kind::kModified, next_try, true},
      {"rewritten in the same second",
       ReadOne(v1::DELETE_OUTCOME_MODIFIED, Current(kTs, kTtl, "e2")), &DeleteTally::modified,
       Kind::kModified, next_try, true},
      {"older than tracked, for the third time",
       ReadOne(v1::DELETE_OUTCOME_MODIFIED, Current(4000, kTtl, "e0"), 2), &DeleteTally::modified,
       Kind::kModified, kNow + 4, true},
      {"ttl taken away", ReadOne(v1::DELETE_OUTCOME_MODIFIED, Current(kTs, std::nullopt, "e1")),
       &DeleteTally::modified, Kind::kModified},
      {"modified, no state", ReadOne(v1::DELETE_OUTCOME_MODIFIED), &DeleteTally::unanswered,
       Kind::kStateUnknown, kNow + 3600},
      {"modified, ts missing", ReadOne(v1::DELETE_OUTCOME_MODIFIED, Current(0, kTtl, "e2")),
       &DeleteTally::unanswered, Kind::kStateUnknown, kNow + 3600},
      {"modified, ts in milliseconds",
       ReadOne(v1::DELETE_OUTCOME_MODIFIED, Current(6'000'000, kTtl, "e2")),
       &DeleteTally::unanswered, Kind::kStateUnknown, kNow + 3600},
      {"modified, impossible ttl", ReadOne(v1::DELETE_OUTCOME_MODIFIED, Current(6000, 0, "e2")),
       &DeleteTally::unanswered, Kind::kStateUnknown, kNow + 3600},
      {"modified, huge etag",
       ReadOne(v1::DELETE_OUTCOME_MODIFIED, Current(6000, kTtl, std::string(129, 'e'))),
       &DeleteTally::unanswered, Kind::kStateUnknown, kNow + 3600},
      {"modified to what was judged",
       ReadOne(v1::DELETE_OUTCOME_MODIFIED, Current(kTs, kTtl, "e1")), &DeleteTally::unanswered,
       Kind::kRetryLater, next_try, true},
      {"clock 2 s behind", ReadOne(v1::DELETE_OUTCOME_NOT_EXPIRED, StoreNow(kTs + kTtl - 2)),
       &DeleteTally::not_expired, Kind::kRetryLater, kNow + 2, true},
      {"clock 1.5 s behind",
       ReadOne(v1::DELETE_OUTCOME_NOT_EXPIRED, StoreNow(kTs + kTtl - 2, 500'000'000)),
       &DeleteTally::not_expired, Kind::kRetryLater, kNow + 2, true},
      {"clock 2 s behind for the fifth time",
       ReadOne(v1::DELETE_OUTCOME_NOT_EXPIRED, StoreNow(kTs + kTtl - 2), 4),
       &DeleteTally::not_expired, Kind::kRetryLater, kNow + 16, true},
      {"clock years behind", ReadOne(v1::DELETE_OUTCOME_NOT_EXPIRED, StoreNow(-1'000'000'000)),
       &DeleteTally::not_expired, Kind::kRetryLater, kNow + 3600, true},
      {"not expired, though it is", ReadOne(v1::DELETE_OUTCOME_NOT_EXPIRED, StoreNow(kTs + kTtl)),
       &DeleteTally::not_expired, Kind::kRetryLater, next_try, true},
      {"not expired, no clock", ReadOne(v1::DELETE_OUTCOME_NOT_EXPIRED), &DeleteTally::not_expired,
       Kind::kRetryLater, next_try, true},
      {"throttled", ReadOne(v1::DELETE_OUTCOME_THROTTLED), &DeleteTally::throttled,
       Kind::kRetryLater, kNow + 5},
      {"out of time",
       ReadOne(v1::DELETE_OUTCOME_THROTTLED, ThrottledFor(v1::THROTTLE_REASON_OUT_OF_TIME)),
       &DeleteTally::out_of_time, Kind::kRetryLater, kNow + 5},
      {"throttled for a reason of a later version",
       ReadOne(v1::DELETE_OUTCOME_THROTTLED, ThrottledFor(static_cast<v1::ThrottleReason>(77))),
       &DeleteTally::throttled, Kind::kRetryLater, kNow + 5},
      {"failed", ReadOne(v1::DELETE_OUTCOME_FAILED), &DeleteTally::failed, Kind::kRetryLater,
       next_try, true},
      {"failed for the fourth time", ReadOne(v1::DELETE_OUTCOME_FAILED, nullptr, 3),
       &DeleteTally::failed, Kind::kRetryLater, kNow + 8, true},
      {"unspecified", ReadOne(v1::DELETE_OUTCOME_UNSPECIFIED), &DeleteTally::failed,
       Kind::kRetryLater, next_try, true},
      {"of a later version", ReadOne(static_cast<v1::DeleteOutcome>(77)), &DeleteTally::failed,
       Kind::kRetryLater, next_try, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const DeleteTally& tally = c.answers.record.tally;
    EXPECT_EQ(tally.*c.counted, 1);
    EXPECT_EQ(tally.deleted + tally.not_found + tally.modified + tally.not_expired +
                  tally.throttled + tally.out_of_time + tally.failed + tally.unanswered,
              1);
    ASSERT_EQ(c.answers.reports.size(), c.kind.has_value() ? 1 : 0);
    if (!c.kind.has_value()) continue;
    const DeleteReport& report = c.answers.reports[0];
    EXPECT_EQ(report.key, (ItemKey{"p", "0"}));
    EXPECT_EQ(report.generation, 42u);
    EXPECT_EQ(report.kind, *c.kind);
    EXPECT_EQ(report.retry_time, c.retry_time);
    EXPECT_EQ(report.counts_as_attempt, c.counts_as_attempt);
  }
}

// It is the explanation of an item that waits; but not instead of why its delete failed before.
TEST(StoreAnswersTest, OutOfTimeIsNotedWithAnItemThatHasNotFailed) {
  const auto out_of_time = ThrottledFor(v1::THROTTLE_REASON_OUT_OF_TIME);
  EXPECT_TRUE(absl::StrContains(
      ReadOne(v1::DELETE_OUTCOME_THROTTLED, out_of_time).reports.at(0).error, "the deadline"));
  EXPECT_EQ(ReadOne(v1::DELETE_OUTCOME_THROTTLED, out_of_time, 3).reports.at(0).error, "");
  EXPECT_EQ(ReadOne(v1::DELETE_OUTCOME_THROTTLED).reports.at(0).error, "");
}

TEST(StoreAnswersTest, ModifiedBringsTheWholeState) {
  const StoreAnswers answers =
      ReadOne(v1::DELETE_OUTCOME_MODIFIED, [](v1::DeleteItemsResponse&, v1::DeleteResult& result) {
        result.mutable_current()->set_ts(6000);
        result.mutable_current()->set_etag("e2");
        result.mutable_current()->set_sequence(9);
        result.mutable_current()->set_size_bytes(-5);
      });
  const ItemVersion& current = answers.reports.at(0).current;
  EXPECT_EQ(current.times.ts, 6000);
  EXPECT_EQ(current.times.ttl, std::nullopt);
  EXPECT_EQ(current.etag, "e2");
  EXPECT_EQ(current.sequence, 9u);
  EXPECT_EQ(current.size_bytes, 0);
  EXPECT_FALSE(answers.first_failure.has_value());
}

// A store from before expire_at cannot say it: what it leaves out is not gone.
TEST(StoreAnswersTest, ModifiedOfAStoreThatDoesNotKnowExpireAtTakesNoneAway) {
  Sent sent = MakeSent();
  sent.items[0].item.version.times.expire_at = kNow - 5;
  v1::DeleteItemsResponse response;
  v1::DeleteResult& result = *response.add_results();
  result.set_outcome(v1::DELETE_OUTCOME_MODIFIED);
  result.mutable_current()->set_ts(kNow - 1);
  result.mutable_current()->set_ttl(500);
  for (const bool knows_expire_at : {false, true}) {
    const StoreAnswers answers = ReadAnswers(sent.items, sent.request, response,
                                             {.default_ttl = kNever,
                                              .knows_expire_at = knows_expire_at,
                                              .now = absl::FromUnixSeconds(kNow)});
    EXPECT_EQ(answers.reports.at(0).current.times.expire_at,
              knows_expire_at ? std::nullopt : std::optional<int64_t>(kNow - 5));
  }
  result.mutable_current()->set_expire_at(kNow + 5);
  EXPECT_EQ(Read(sent, response).reports.at(0).current.times.expire_at, kNow + 5);
  result.mutable_current()->set_expire_at(0);
  EXPECT_EQ(Read(sent, response).reports.at(0).kind, Kind::kStateUnknown) << "not legal";
}

TEST(StoreAnswersTest, WrongNumberOfResultsIsRefused) {
  for (const int results : {0, 2, 3, 4, 100}) {
    v1::DeleteItemsResponse response;
    for (int i = 0; i < results; ++i) {
      response.add_results()->set_outcome(v1::DELETE_OUTCOME_DELETED);
    }
    const absl::Status status = ValidateAnswer(MakeSent(3).items, response);
    EXPECT_EQ(status.ok(), results == 3);
    EXPECT_EQ(absl::StrContains(status.message(), "for 3 items"), results != 3) << status;
  }
}

TEST(StoreAnswersTest, ReasonsAreShortAndPrintable) {
  const StoreAnswers answers =
      ReadOne(v1::DELETE_OUTCOME_FAILED, [](v1::DeleteItemsResponse&, v1::DeleteResult& result) {
        result.set_reason("disk\nfull \xc3\xa9 " + std::string(1000, 'x'));
      });
  const std::string& error = answers.reports.at(0).error;
  EXPECT_TRUE(absl::StartsWith(error, "disk?full ?? x"));
  EXPECT_EQ(error.size(), 256);
  ASSERT_TRUE(answers.first_failure.has_value());
  EXPECT_EQ(answers.first_failure->key.id, "0");
  EXPECT_EQ(answers.first_failure->reason, error);
}

TEST(StoreAnswersTest, ABlamedItemIsTriedAgainLater) {
  const StoreAnswers answers = BlameItem(MakeSent(1, 1).items[0], "INTERNAL: boom",
                                         absl::Milliseconds(100), absl::FromUnixSeconds(kNow));
  EXPECT_EQ(answers.record.tally.unanswered, 1);
  ASSERT_EQ(answers.reports.size(), 1);
  EXPECT_EQ(answers.reports[0].kind, Kind::kRetryLater);
  EXPECT_EQ(answers.reports[0].retry_time, kNow + 2);
  EXPECT_TRUE(answers.reports[0].counts_as_attempt);
  EXPECT_EQ(answers.reports[0].error, "INTERNAL: boom");
}

TEST(StoreAnswersTest, ABlamedItemThatTookLongWaitsForLonger) {
  const StoreAnswers answers = BlameItem(MakeSent(1, 1).items[0], "DEADLINE_EXCEEDED: hangs",
                                         absl::Seconds(5), absl::FromUnixSeconds(kNow));
  EXPECT_EQ(answers.reports.at(0).retry_time, kNow + 50);
}

}  // namespace
}  // namespace ttl
