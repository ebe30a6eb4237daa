#include "service/expiry/store/store_answers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "service/base/proto_time.h"
#include "service/core/item.h"
#include "service/core/ttl_rules.h"
#include "service/expiry/pace/retry_delay.h"
#include "service/storage/expiry_index.h"

namespace ttl {
namespace {

constexpr size_t kMaxReasonBytes = 256;
// Longest wait for the store's clock, however far behind the store says it is.
constexpr absl::Duration kMaxNotExpiredWait = absl::Hours(1);

// `reason` as it is stored and logged: short and printable, whatever the store sent.
std::string Printable(absl::string_view reason) {
  std::string printable(reason.substr(0, kMaxReasonBytes));
  for (char& c : printable) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return printable;
}

constexpr char kOutOfTime[] =
    "the other deletes of its call to the store used up the deadline of the call";

// See BlameItem().
constexpr int kWaitPerTimeTaken = 10;

// First whole second at or after `time`.
int64_t CeilSeconds(absl::Time time) {
  const int64_t seconds = absl::ToUnixSeconds(time);
  return absl::FromUnixSeconds(seconds) < time ? seconds + 1 : seconds;
}

// The version in a MODIFIED answer; absent if there is none or it is not valid.
std::optional<ItemVersion> UsableVersion(const v1::DeleteResult& result, absl::Time now) {
  if (!result.has_current()) return std::nullopt;
  const v1::Item& current = result.current();
  ItemVersion version;
  version.times.ts = current.ts();
  if (current.has_ttl()) version.times.ttl = current.ttl();
  if (current.has_expire_at()) version.times.expire_at = current.expire_at();
  if (!IsPossible(version.times, now)) return std::nullopt;
  if (current.etag().size() > kMaxEtagBytes) return std::nullopt;
  version.etag = current.etag();
  if (current.has_sequence()) version.sequence = current.sequence();
  version.size_bytes = std::max<int64_t>(current.size_bytes(), 0);
  return version;
}

// Collects the meaning of the results of one batch.
class Reader {
 public:
  explicit Reader(const AnswerTerms& terms) : terms_(terms), now_(terms.now) {}

  void Read(const DueItem& item, const v1::ExpiredItem& sent, const v1::DeleteResult& result,
            std::optional<absl::Time> store_now) {
    switch (result.outcome()) {
      case v1::DELETE_OUTCOME_DELETED:
        ++answers_.record.tally.deleted;
        ReadDeleted(item);
        return;
      case v1::DELETE_OUTCOME_NOT_FOUND:
        ++answers_.record.tally.not_found;
        if (terms_.believe_not_found) Report(item, DeleteReport::Kind::kGone);
        return;
      case v1::DELETE_OUTCOME_MODIFIED:
        ReadModified(item, sent, result);
        return;
      case v1::DELETE_OUTCOME_NOT_EXPIRED:
        ++answers_.record.tally.not_expired;
        ReadNotExpired(item, sent.expire_time(), store_now);
        return;
      case v1::DELETE_OUTCOME_THROTTLED:
        ReadThrottled(item, result.throttle_reason());
        return;
      default:
        ++answers_.record.tally.failed;
        Fail(item, result.reason().empty() ? "the store gave no reason" : result.reason());
        return;
    }
  }

  // The item has no result that can be believed.
  void Unanswered(const DueItem& item, absl::string_view why) {
    ++answers_.record.tally.unanswered;
    Fail(item, why);
  }

  StoreAnswers Take() { return std::move(answers_); }

 private:
  void ReadDeleted(const DueItem& item) {
    DeleteReport& report = Report(item, DeleteReport::Kind::kGone);
    report.deleted = true;
    if (item.due_time < kFirstSoundTime) return;
    const absl::Duration lateness = LatenessOf(absl::FromUnixSeconds(item.due_time));
    answers_.record.lateness.Add(lateness);
    report.lateness_seconds = std::max<int64_t>(absl::ToInt64Seconds(lateness), 0);
  }

  void ReadModified(const DueItem& item, const v1::ExpiredItem& sent,
                    const v1::DeleteResult& result) {
    std::optional<ItemVersion> current = UsableVersion(result, now_);
    if (!current.has_value()) {
      ++answers_.record.tally.unanswered;
      DeleteReport& report = Report(item, DeleteReport::Kind::kStateUnknown);
      report.retry_time = CeilSeconds(now_ + kStateUnknownRetry);
      report.error = "the store answered MODIFIED without a valid current version of the item";
      NoteFailure(item, report.error);
      return;
    }
    const ItemTimes& judged = item.item.version.times;
    if (!terms_.knows_expire_at && !current->times.expire_at.has_value()) {
      current->times.expire_at = judged.expire_at;
    }
    const bool same_etag = sent.etag().empty() || sent.etag() == current->etag;
    if (IsSameWrite(current->times, judged) && same_etag) {
      Unanswered(item, "the store answered MODIFIED with the version that was to be deleted");
      return;
    }
    ++answers_.record.tally.modified;
    DeleteReport& report = Report(item, DeleteReport::Kind::kModified);
    if (IsExpiredAt(ExpireTime(terms_.default_ttl, current->times), now_)) {
      TryAgain(item, "the store answered MODIFIED with a version that is expired too", report);
    }
    report.current = *std::move(current);
  }

  // The error of a failed attempt tells more than that the next one found no time.
  void ReadThrottled(const DueItem& item, v1::ThrottleReason reason) {
    const bool is_out_of_time = reason == v1::THROTTLE_REASON_OUT_OF_TIME;
    DeleteTally& tally = answers_.record.tally;
    ++(is_out_of_time ? tally.out_of_time : tally.throttled);
    DeleteReport& report = Report(item, DeleteReport::Kind::kRetryLater);
    report.retry_time = CeilSeconds(now_ + kThrottledRetry);
    if (is_out_of_time && item.item.attempts == 0) report.error = kOutOfTime;
  }

  void ReadNotExpired(const DueItem& item, int64_t expire_time,
                      std::optional<absl::Time> store_now) {
    if (!store_now.has_value() || IsExpiredAt(expire_time, *store_now)) {
      Fail(item, "the store answered NOT_EXPIRED without a store_now before the expire time");
      return;
    }
    DeleteReport& report = Report(item, DeleteReport::Kind::kRetryLater);
    TryAgain(item, "not yet expired by the store's clock", report);
    const absl::Duration wait = absl::FromUnixSeconds(expire_time) - *store_now;
    report.retry_time =
        std::max(*report.retry_time, CeilSeconds(now_ + std::min(wait, kMaxNotExpiredWait)));
  }

  void Fail(const DueItem& item, absl::string_view reason) {
    DeleteReport& report = Report(item, DeleteReport::Kind::kRetryLater);
    TryAgain(item, reason, report);
    NoteFailure(item, report.error);
  }

  absl::Duration LatenessOf(absl::Time due_time) const {
    return terms_.allowed.has_value() ? terms_.allowed->Since(due_time) : now_ - due_time;
  }

  // Counts a failed attempt and sets the growing delay.
  void TryAgain(const DueItem& item, absl::string_view reason, DeleteReport& report) const {
    report.retry_time = CeilSeconds(now_ + RetryDelay(int64_t{item.item.attempts} + 1));
    report.counts_as_attempt = true;
    report.error = Printable(reason);
  }

  void NoteFailure(const DueItem& item, const std::string& reason) {
    ++answers_.record.failures[reason];
    if (!answers_.first_failure.has_value()) answers_.first_failure = {item.key, reason};
  }

  DeleteReport& Report(const DueItem& item, DeleteReport::Kind kind) {
    DeleteReport& report = answers_.reports.emplace_back();
    report.key = item.key;
    report.generation = item.item.generation;
    report.kind = kind;
    report.times = item.item.version.times;
    report.expired_sequence = item.item.expired_sequence;
    return report;
  }

  const AnswerTerms terms_;
  const absl::Time now_;
  StoreAnswers answers_;
};

}  // namespace

StoreAnswers ReadAnswers(const std::vector<DueItem>& items, const v1::DeleteItemsRequest& request,
                         const v1::DeleteItemsResponse& response, const AnswerTerms& terms) {
  Reader reader(terms);
  std::optional<absl::Time> store_now;
  if (response.has_store_now()) store_now = FromProto(response.store_now());
  for (size_t i = 0; i < items.size(); ++i) {
    const int index = static_cast<int>(i);
    reader.Read(items[i], request.items(index), response.results(index), store_now);
  }
  return reader.Take();
}

absl::Status ValidateAnswer(const std::vector<DueItem>& items,
                            const v1::DeleteItemsResponse& response) {
  if (static_cast<size_t>(response.results_size()) == items.size()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the store gave ", response.results_size(),
                                          " results for ", items.size(), " items"));
}

StoreAnswers BlameItem(const DueItem& item, absl::string_view reason, absl::Duration took,
                       absl::Time now) {
  Reader reader({.now = now});
  reader.Unanswered(item, reason);
  StoreAnswers answers = reader.Take();
  std::optional<int64_t>& retry_time = answers.reports.front().retry_time;
  retry_time = std::max(*retry_time, CeilSeconds(now + kWaitPerTimeTaken * took));
  return answers;
}

}  // namespace ttl
