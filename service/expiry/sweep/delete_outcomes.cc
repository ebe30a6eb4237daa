#include "service/expiry/sweep/delete_outcomes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/base/done.h"
#include "service/base/error_details.h"
#include "service/base/proto_time.h"
#include "service/base/quoted.h"
#include "service/expiry/store/retry_info.h"
#include "spdlog/spdlog.h"

namespace ttl {
namespace {

// Retry delay of items that the store cannot compare. The store may be replaced at any time, but
// each retry writes every such item.
constexpr absl::Duration kPutOffRetry = absl::Minutes(15);
constexpr absl::string_view kStoreLacksExpireAt =
    "the store does not have STORE_CAPABILITY_EXPIRE_AT, so it cannot compare expire_at";

std::string Show(const ItemKey& key) {
  constexpr size_t kMaxShownBytes = 64;
  return absl::StrCat("\"", absl::CHexEscape(key.partition_key.substr(0, kMaxShownBytes)), "\"/\"",
                      absl::CHexEscape(key.id.substr(0, kMaxShownBytes)), "\"");
}

// Whether the error came from the store itself, so that it can be reached.
bool IsAnswered(const absl::Status& error) {
  return !absl::IsUnavailable(error) && !absl::IsDeadlineExceeded(error) &&
         !absl::IsCancelled(error);
}

BatchFailure::Kind KindOf(const absl::Status& error) {
  if (absl::IsDeadlineExceeded(error)) return BatchFailure::Kind::kSlow;
  if (absl::IsUnavailable(error)) return BatchFailure::Kind::kUnavailable;
  return absl::IsResourceExhausted(error) ? BatchFailure::Kind::kPushBack
                                          : BatchFailure::Kind::kRefused;
}

// Absent if the failure says nothing about how busy the store is.
std::optional<PushBack> PushBackOf(const absl::Status& error) {
  switch (error.code()) {
    case absl::StatusCode::kResourceExhausted:
      return PushBack::kExhausted;
    case absl::StatusCode::kUnavailable:
      return PushBack::kUnavailable;
    case absl::StatusCode::kDeadlineExceeded:
      return PushBack::kNoAnswer;
    default:
      return std::nullopt;
  }
}

// Whether one of its items can be the reason that a batch failed with `error`.
bool MayBeAnItemsFault(const absl::Status& error) {
  return !absl::IsResourceExhausted(error) && !absl::IsCancelled(error);
}

// Fields of a log line. A trace that is not sampled has no spans in the store's records, but a
// store may log its id.
std::string TraceFields(const CallTrace& trace) {
  return absl::StrCat("trace_id=", trace.trace_id, " sampled=", trace.sampled ? "true" : "false");
}

// Lets an operator tell our deletes from those of users, with everything that each one was decided
// by.
void LogDeletes(const DeleteCall& call, const v1::DeleteItemsResponse& response,
                const DeleteTally& tally) {
  const Container& container = *call.container;
  const v1::DeleteItemsRequest& request = call.batch.request;
  spdlog::debug(
      "deletes by TTL expiry: container={} incarnation={} revision={} sent={} deleted={} "
      "not_found={} modified={} not_expired={} throttled={} out_of_time={} failed={} "
      "unanswered={} {}",
      Quoted(container.id, kMaxContainerIdBytes), container.number, container.revision,
      request.items_size(), tally.deleted, tally.not_found, tally.modified, tally.not_expired,
      tally.throttled, tally.out_of_time, tally.failed, tally.unanswered, TraceFields(call.trace));
  if (!spdlog::should_log(spdlog::level::trace)) return;
  for (int i = 0; i < request.items_size(); ++i) {
    const v1::ExpiredItem& item = request.items(i);
    spdlog::trace(
        "delete by TTL expiry: container={} item={} ts={} ttl={} expire_at={} source={} result={}",
        Quoted(container.id, kMaxContainerIdBytes), Show({item.partition_key(), item.id()}),
        item.ts(), item.effective_ttl(), item.expire_at(), v1::TtlSource_Name(item.ttl_source()),
        v1::DeleteOutcome_Name(response.results(i).outcome()));
  }
}

// What AnswerTerms needs to know of the windows of `container`; absent if it has none.
std::optional<AllowedTime> AllowedSince(const Container& container,
                                        const std::vector<DueItem>& items, absl::Time now) {
  if (!container.settings.windows.has_value()) return std::nullopt;
  const auto oldest =
      std::min_element(items.begin(), items.end(),
                       [](const DueItem& a, const DueItem& b) { return a.due_time < b.due_time; });
  return AllowedTime(container.settings.windows, absl::FromUnixSeconds(oldest->due_time), now);
}

BatchAnswer ToBatchAnswer(const DeleteCall& call, const DeleteTally& tally, const Moment& now) {
  const v1::DeleteItemsResponse& response = *call.response;
  BatchAnswer answer = {.items = static_cast<int64_t>(call.batch.items.size()),
                        .deleted = tally.deleted,
                        .took = now.steady - call.sent.steady,
                        .throttled = tally.throttled + tally.out_of_time > 0};
  if (response.has_request_charge()) answer.cost = response.request_charge();
  if (response.has_retry_after()) answer.retry_after = FromProto(response.retry_after());
  return answer;
}

}  // namespace

bool DeleteOutcomes::Take(const DeleteCall& call, const Kept& kept, const Moment& now) {
  published_.AddCall(call.response.status().code(), now.steady - call.sent.steady);
  if (!call.response.ok()) {
    TakeError(call, call.response.status(), kept, now);
    return true;
  }
  if (const absl::Status valid = ValidateAnswer(call.batch.items, *call.response); !valid.ok()) {
    TakeError(call, valid, kept, now);
  } else {
    TakeResponse(call, kept, now);
  }
  return false;
}

int64_t DeleteOutcomes::PutOffExpireAt(const Container& container, std::vector<DueItem>& due,
                                       ContainerPace& pace, const Moment& now) {
  std::vector<DueItem> items;
  std::erase_if(due, [&items](const DueItem& item) {
    const bool has_expire_at = item.item.version.times.expire_at.has_value();
    if (has_expire_at) items.push_back(item);
    return has_expire_at;
  });
  if (items.empty()) return 0;
  log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/expire_at"),
           absl::StrCat("items with an expire_at are not deleted: container=", Quoted(container.id),
                        " reason=", Quoted(kStoreLacksExpireAt)),
           now.steady);
  PutOff(container, items, kStoreLacksExpireAt, pace, now);
  return static_cast<int64_t>(items.size());
}

int64_t DeleteOutcomes::PutOffUnknown(const Container& container, const std::vector<DueItem>& items,
                                      const absl::Status& error, ContainerPace& pace,
                                      const Moment& now) {
  const std::string reason = absl::StrCat("its holds cannot be read: ", error.message());
  log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/holds"),
           absl::StrCat("holds cannot be read, so due items are not deleted: container=",
                        Quoted(container.id), " items=", items.size(),
                        " error=", Quoted(TextOf(error), kMaxErrorBytes)),
           now.steady);
  PutOff(container, items, reason, pace, now);
  return static_cast<int64_t>(items.size());
}

void DeleteOutcomes::PutOff(const Container& container, const std::vector<DueItem>& items,
                            absl::string_view reason, ContainerPace& pace, const Moment& now) {
  std::vector<DeleteReport> reports;
  for (const DueItem& item : items) {
    DeleteReport& report = reports.emplace_back();
    report.key = item.key;
    report.generation = item.item.generation;
    report.kind = DeleteReport::Kind::kRetryLater;
    report.retry_time = absl::ToUnixSeconds(store_.JudgeTime(now) + kPutOffRetry);
    report.error = std::string(reason);
  }
  Commit(container, std::move(reports), pace, now);
}

void DeleteOutcomes::TakeResponse(const DeleteCall& call, const Kept& kept, const Moment& now) {
  const v1::DeleteItemsResponse& response = *call.response;
  const Container& container = *call.container;
  const auto is_tracked = [&](const DueItem& judged) {
    const auto found = storage_.items().Find(container.number, judged.key);
    if (!found.ok()) return true;
    return found->has_value() && (*found)->generation == judged.item.generation;
  };
  const bool in_doubt =
      store_.TakeOutcomes(call.batch.items, response, storage_.StoreEpoch(), is_tracked, now);
  const absl::Time judged_at = store_.JudgeTime(now);
  StoreAnswers answers =
      ReadAnswers(call.batch.items, call.batch.request, response,
                  {.believe_not_found = !in_doubt,
                   .default_ttl = container.settings.policy.default_ttl,
                   .knows_expire_at = store_.state().knows_expire_at(),
                   .now = judged_at,
                   .allowed = AllowedSince(container, call.batch.items, judged_at)});
  store_.TakeAnswer(response, call.sent, now);
  kept.suspects.Clear(call.batch.items);
  const DeleteTally& tally = answers.record.tally;
  const BatchAnswer answer = ToBatchAnswer(call, tally, now);
  const bool slow = kept.pace.NoteAnswer(answer, now);
  kept.after_slow = slow || tally.out_of_time > 0;
  if (tally.throttled > 0) published_.AddPushBack(PushBack::kThrottled);
  if (tally.out_of_time > 0) TakeOutOfTime(call, tally.out_of_time, now);
  if (answer.throttled && answer.retry_after.has_value()) {
    published_.AddPushBack(PushBack::kRetryAfter);
  }
  if (slow) TakeSlow(call, answer.took, now);
  LogDeletes(call, response, tally);
  TakeAnswers(call, std::move(answers), kept.pace, now);
}

void DeleteOutcomes::TakeSlow(const DeleteCall& call, absl::Duration took, const Moment& now) {
  const Container& container = *call.container;
  published_.AddPushBack(PushBack::kSlow);
  log_.Log(spdlog::level::info, absl::StrCat(container.id, "/slow"),
           absl::StrCat("deletes are slow: container=", Quoted(container.id),
                        " items=", call.batch.items.size(), " took=", absl::FormatDuration(took),
                        " reason=\"most of the last calls took more than twice as long as usual, "
                        "so the rate was cut\" ",
                        TraceFields(call.trace)),
           now.steady);
}

void DeleteOutcomes::TakeOutOfTime(const DeleteCall& call, int64_t items, const Moment& now) {
  const Container& container = *call.container;
  published_.AddPushBack(PushBack::kOutOfTime);
  log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/out_of_time"),
           absl::StrCat("deletes are slow: container=", Quoted(container.id), " put_off=", items,
                        " reason=\"the store could not carry them out within the deadline of the "
                        "call\" ",
                        TraceFields(call.trace)),
           now.steady);
}

void DeleteOutcomes::TakeError(const DeleteCall& call, const absl::Status& error, const Kept& kept,
                               const Moment& now) {
  const std::string& id = call.container->id;
  const std::vector<DueItem>& items = call.batch.items;
  const int64_t count = static_cast<int64_t>(items.size());
  store_.TakeCallError(error, IsAnswered(error), count);
  if (const auto kind = PushBackOf(error)) published_.AddPushBack(*kind);
  const bool may_be_an_item = MayBeAnItemsFault(error);
  const bool suspected = may_be_an_item && count > 1 && kept.suspects.Suspect(items);
  kept.pace.NoteFailure({.items = count,
                         .kind = KindOf(error),
                         .retry_after = RetryAfterOf(error),
                         .suspected = suspected},
                        now);
  if (!absl::IsCancelled(error)) {
    log_.Log(spdlog::level::warn, absl::StrCat(id, "/", absl::StatusCodeToString(error.code())),
             absl::StrCat(
                 "batch of deletes failed: container=", Quoted(id), " items=", count, " error=",
                 Quoted(error.ToString(absl::StatusToStringMode::kWithNoExtraData), kMaxErrorBytes),
                 " ", TraceFields(call.trace)),
             now.steady);
  }
  if (count > 1 || !may_be_an_item) {
    DeleteRecord record;
    record.tally.unanswered = count;
    published_.AddDeletes(call.container->number, record);
    return;
  }
  kept.suspects.Clear(items);
  TakeAnswers(call,
              BlameItem(items.front(), error.ToString(absl::StatusToStringMode::kWithNoExtraData),
                        now.steady - call.sent.steady, store_.JudgeTime(now)),
              kept.pace, now);
}

void DeleteOutcomes::TakeAnswers(const DeleteCall& call, StoreAnswers answers, ContainerPace& pace,
                                 const Moment& now) {
  const Container& container = *call.container;
  if (const auto& failure = answers.first_failure) {
    log_.Log(spdlog::level::warn, absl::StrCat(container.id, "/", failure->reason),
             absl::StrCat(
                 "item was not deleted and will be retried: container=", Quoted(container.id),
                 " item=", Show(failure->key), " reason=", Quoted(failure->reason, kMaxErrorBytes),
                 " ", TraceFields(call.trace)),
             now.steady);
  }
  Commit(container, std::move(answers.reports), pace, now);
  // Last, so that whoever sees an outcome counted also sees its effect on the item.
  published_.AddDeletes(container.number, answers.record);
}

void DeleteOutcomes::Commit(const Container& container, std::vector<DeleteReport> reports,
                            ContainerPace& pace, const Moment& now) {
  if (reports.empty()) return;
  const auto gone = std::count_if(reports.begin(), reports.end(), [](const DeleteReport& report) {
    return report.kind == DeleteReport::Kind::kGone;
  });
  const auto applied = Await<absl::StatusOr<int64_t>>([&](auto done) {
    storage_.expiry_index().ApplyOutcomes(container.number, std::move(reports), std::move(done));
  });
  if (applied.ok()) {
    if (gone > 0) published_.PostSuccess(container.number, now.steady);
    return;
  }
  store_.NoteUnanswered(gone);
  pace.Hold(ContainerPace::kFirstSlowHold, ContainerPace::kMaxSlowHold, now);
  log_.Log(spdlog::level::warn, "outcomes",
           absl::StrCat(
               "outcomes of deletes were not committed, the deletes will be sent again: container=",
               Quoted(container.id), " error=", Quoted(TextOf(applied.status()), kMaxErrorBytes)),
           now.steady);
}

}  // namespace ttl
