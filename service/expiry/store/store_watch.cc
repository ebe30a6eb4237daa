#include "service/expiry/store/store_watch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/base/error_details.h"
#include "service/base/quoted.h"
#include "service/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace ttl {
namespace {

// Bounded, however many deletes had no answer: an empty replica must not empty the index.
constexpr int64_t kMaxExcused = 10'000;

}  // namespace

StoreWatch::StoreWatch(const Options& options, PrimaryStoreClient* store, Levers& levers,
                       WakeSignal& wake)
    : options_(options),
      store_(store),
      levers_(levers),
      state_(options.max_clock_skew),
      answers_(wake),
      excused_(levers.store_trust().store_id().has_value() ? options.excused_items : 0) {}

StoreWatch::~StoreWatch() { AwaitAnswer(); }

void StoreWatch::AskIfDue(const Moment& now) {
  if (store_ == nullptr || is_asking() || !state_.IsInfoDue(now.steady)) return;
  sent_ = now;
  store_->GetStoreInfo(options_.deadline, [this](auto info) { answers_.Put(std::move(info)); });
}

void StoreWatch::CollectAnswer() {
  // At most one call is in flight.
  for (auto& answer : answers_.TakeAll()) answer_ = std::move(answer);
}

bool StoreWatch::TakeInAnswer(const Moment& now) {
  if (!answer_.has_value()) return false;
  const absl::Status status = TakeInfo(*answer_, now);
  if (!status.ok()) state_.TakeInfoError(status, now);
  if (!status.ok() && !absl::IsCancelled(status)) {
    log_.Log(spdlog::level::warn, "info",
             absl::StrCat("GetStoreInfo failed, deletes are suspended until it succeeds: error=",
                          Quoted(TextOf(status), kMaxErrorBytes)),
             now.steady);
  }
  answer_.reset();
  sent_.reset();
  return true;
}

void StoreWatch::AwaitAnswer() {
  if (is_asking() && !has_answer()) answers_.Await();
}

absl::Status StoreWatch::TakeInfo(const absl::StatusOr<v1::GetStoreInfoResponse>& info,
                                  const Moment& now) {
  TTL_RETURN_IF_ERROR(info.status());
  TTL_RETURN_IF_ERROR(StoreState::ValidateInfo(*info));
  if (!levers_.store_trust().store_id().has_value()) {
    TTL_RETURN_IF_ERROR(levers_.TakeFirstStore(info->store_id()));
  }
  const absl::Status stored = levers_.MeetStore(info->store_id());
  state_.TakeInfo(*info, *sent_, now);
  if (!stored.ok()) {
    log_.Log(spdlog::level::warn, "store_id",
             absl::StrCat("the store_id of another store was not stored, will retry: error=",
                          Quoted(TextOf(stored), kMaxErrorBytes)),
             now.steady);
  }
  if (const std::string doubt = DoubtOf(); !doubt.empty()) {
    log_.Log(spdlog::level::err, "doubt",
             absl::StrCat("deletes are suspended: reason=", Quoted(doubt, kMaxErrorBytes)),
             now.steady);
  }
  return absl::OkStatus();
}

std::string StoreWatch::DoubtOf() const {
  const StoreTrust& trust = levers_.store_trust();
  const std::optional<std::string> known = trust.store_id();
  const std::optional<std::string> present = trust.met();
  if (known.has_value() && present.has_value() && *known != *present) {
    return absl::StrCat("the store's store_id is \"", absl::CHexEscape(*present),
                        "\", but the tracked items belong to \"", absl::CHexEscape(*known),
                        "\": connect the sidecar to that store, or confirm this one");
  }
  return trust.doubt();
}

absl::Time StoreWatch::JudgeTime(const Moment& now) const {
  const absl::Time ours = now.time.for_deletes;
  return std::min(ours, state_.Now(now.steady).value_or(ours));
}

void StoreWatch::TakeAnswer(const v1::DeleteItemsResponse& response, const Moment& sent,
                            const Moment& received) {
  const absl::Status taken = state_.TakeAnswer(response, sent, received);
  if (taken.ok()) return;
  log_.Log(spdlog::level::warn, "clock",
           absl::StrCat("deletes are suspended until GetStoreInfo gives the store's clock: error=",
                        Quoted(TextOf(taken), kMaxErrorBytes)),
           received.steady);
}

void StoreWatch::TakeCallError(const absl::Status& error, bool answered, int64_t items) {
  state_.TakeCallError(error, answered);
  // With FAILED_PRECONDITION the store says that it has deleted nothing.
  if (!absl::IsFailedPrecondition(error)) NoteUnanswered(items);
}

void StoreWatch::NoteUnanswered(int64_t items) {
  excused_ = std::min(excused_ + items, kMaxExcused);
}

bool StoreWatch::TakeOutcomes(const std::vector<DueItem>& items,
                              const v1::DeleteItemsResponse& response, uint64_t epoch,
                              absl::FunctionRef<bool(const DueItem&)> is_tracked,
                              const Moment& now) {
  if (!DoubtOf().empty()) {
    not_found_in_a_row_ = 0;
    return true;
  }
  if (options_.not_found_burst_items == 0) return false;
  int64_t longest = 0;
  const size_t count = std::min(items.size(), static_cast<size_t>(response.results_size()));
  for (size_t i = 0; i < count; ++i) {
    const v1::DeleteResult& result = response.results(static_cast<int>(i));
    if (result.outcome() != v1::DELETE_OUTCOME_NOT_FOUND) {
      not_found_in_a_row_ = 0;
    } else if (items[i].item.store_epoch < epoch || !is_tracked(items[i])) {
      continue;
    } else if (excused_ > 0) {
      --excused_;
    } else {
      ++not_found_in_a_row_;
    }
    longest = std::max(longest, not_found_in_a_row_);
  }
  if (longest < options_.not_found_burst_items) return false;
  const std::string doubt =
      absl::StrCat("the store answered NOT_FOUND ", longest,
                   " times in a row: it may be an empty replica; confirm the store if it is right");
  not_found_in_a_row_ = 0;
  const absl::Status saved = levers_.DoubtStore(doubt);
  log_.Log(
      spdlog::level::err, "doubt",
      absl::StrCat(
          "deletes are suspended: reason=", Quoted(doubt, kMaxErrorBytes),
          saved.ok() ? "" : absl::StrCat(" not_stored=", Quoted(saved.message(), kMaxErrorBytes))),
      now.steady);
  return true;
}

StoreView StoreWatch::View(const Moment& now) const {
  StoreView view = state_.View(store_ != nullptr, now);
  view.unconfirmed = DoubtOf();
  return view;
}

}  // namespace ttl
