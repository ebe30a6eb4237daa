#include "client/ttlctl/text/container_status_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ttlctl/input/key_text.h"
#include "client/ttlctl/text/container_text.h"
#include "client/ttlctl/text/count_text.h"
#include "client/ttlctl/text/feed/feed_text.h"
#include "client/ttlctl/text/feed/gate_text.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/hold_text.h"
#include "client/ttlctl/text/holds/placed_hold_text.h"
#include "client/ttlctl/text/item_text.h"
#include "client/ttlctl/text/shell_word.h"
#include "client/ttlctl/text/status_text.h"
#include "client/ttlctl/text/table.h"
#include "service/base/time_text.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string OldestDueText(const v1::ContainerExpiryStatus& status) {
  return status.has_oldest_due_age() ? FormatSpan(ToDuration(status.oldest_due_age())) : "-";
}

std::string OldestDueSentence(const v1::ContainerExpiryStatus& status) {
  if (status.has_oldest_due_age()) return absl::StrCat(OldestDueText(status), " ago");
  return status.backlog_problem().empty() ? "nothing is due" : "not known";
}

std::string BacklogText(const v1::ContainerExpiryStatus& status) {
  return absl::StrCat(status.backlog_is_lower_bound() ? "at least " : "",
                      FormatCount(status.backlog()));
}

// For a table: "1,234+" for a lower bound, "~1,234" for a count that is not exact.
std::string BriefBacklog(const v1::ContainerExpiryStatus& status) {
  return absl::StrCat(FormatCount(status.backlog()), status.backlog_is_lower_bound() ? "+" : "");
}

std::string BriefCount(int64_t items, int64_t error_bound_items) {
  return absl::StrCat(error_bound_items == 0 ? "" : "~", FormatCount(items));
}

// Deletes after which the item still exists unchanged, or may.
int64_t Unsuccessful(const v1::DeleteTally& tally) {
  return tally.not_expired() + tally.throttled() + tally.failed() + tally.unanswered();
}

std::string TallyText(const v1::DeleteTally& tally) {
  std::string text =
      absl::StrCat(FormatCount(tally.sent()), " sent, ", FormatCount(tally.deleted()), " deleted");
  const std::pair<int64_t, const char*> others[] = {
      {tally.not_found(), "not found"},
      {tally.modified(), "modified (kept)"},
      {tally.not_expired(), "not expired by the store's clock"},
      {tally.throttled() - tally.out_of_time(), "throttled"},
      {tally.out_of_time(), "out of time"},
      {tally.failed(), "failed"},
      {tally.unanswered(), "unanswered"},
  };
  for (const auto& [count, name] : others) {
    if (count != 0) absl::StrAppend(&text, ", ", FormatCount(count), " ", name);
  }
  return text;
}

bool IsOlder(const v1::ContainerExpiryStatus& a, const v1::ContainerExpiryStatus& b) {
  return ToDuration(a.oldest_due_age()) > ToDuration(b.oldest_due_age());
}

std::string AllowedText(const v1::ContainerExpiryStatus& status) {
  if (!status.has_allowed_deletes_per_second()) return "no limit";
  return absl::StrCat(FormatMeasured(status.allowed_deletes_per_second()), "/s");
}

std::string BudgetText(const v1::BudgetStatus& budget) {
  const std::string used =
      budget.has_used_by_requests()
          ? absl::StrCat("requests use ", FormatMeasured(budget.used_by_requests()))
          : "NO REPORT OF USAGE for 10 s, which counts as full use";
  return absl::StrCat(FormatRate(budget.request_units_per_second()), " request units/s, ", used,
                      "\nleaves ", FormatMeasured(budget.deletes_per_second()),
                      "/s for deletes, at ", FormatMeasured(budget.request_units_per_delete()),
                      " request units each");
}

std::string FailuresText(const v1::ContainerExpiryStatus& status) {
  std::string text;
  for (const v1::FailureCount& failure : status.failures()) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", FormatCount(failure.count()), " ",
                    failure.reason().empty() ? "for other reasons" : KeyToText(failure.reason()));
  }
  return text;
}

// What the windows allow now, and until when.
std::string WindowsNow(const v1::WindowStatus& status) {
  if (!status.problem().empty()) {
    return absl::StrCat("PROBLEM: ", status.problem(), "; the smallest rate applies, ",
                        FormatRate(status.max_deletes_per_second()), "/s");
  }
  std::string text = status.open() ? "open" : "closed";
  if (!status.has_max_deletes_per_second()) {
    absl::StrAppend(&text, ", no limit");
  } else if (status.max_deletes_per_second() == 0) {
    absl::StrAppend(&text, ", no deletes");
  } else {
    absl::StrAppend(&text, ", ", FormatRate(status.max_deletes_per_second()), "/s");
  }
  if (status.has_next_start()) {
    return absl::StrCat(text, " before ", TimeText(ToTime(status.next_start())));
  }
  return status.has_next_change()
             ? absl::StrCat(text, " until ", TimeText(ToTime(status.next_change())))
             : text;
}

// "closed, no deletes before ...", and whether the windows of the next week suffice.
std::string WindowStatusText(const v1::WindowStatus& status) {
  const std::string deletable = status.has_deletable_items() ? FormatCount(status.deletable_items())
                                                             : std::string("any number");
  return absl::StrCat(WindowsNow(status), "\n", status.suffices() ? "enough" : "NOT ENOUGH", ": ",
                      FormatCount(status.due_items()), " due within 7 days, ", deletable,
                      " can be deleted");
}

void AddHolds(const v1::ContainerExpiryStatus& status, Fields& fields) {
  fields.emplace_back("held back by", HoldsText(status.holds()));
  if (status.has_held_until()) {
    fields.emplace_back("until", TimeText(ToTime(status.held_until())));
  }
  if (status.has_windows()) fields.emplace_back("windows", WindowStatusText(status.windows()));
  if (HasGateTrouble(status.feed())) {
    fields.emplace_back("gates", GateTroubleText(status.container(), status.feed()));
  }
  if (status.has_hold_counts()) {
    fields.emplace_back("holds", HoldCountsText(status.container(), status.hold_counts()));
  }
  if (AreHoldsInDoubt(status.holds())) {
    fields.emplace_back("holds in doubt", HoldsInDoubtText(status.container()));
  }
  if (status.has_pause()) fields.emplace_back("paused", PauseText(status.pause()));
  if (status.has_grace_until()) {
    fields.emplace_back("grace until", TimeText(ToTime(status.grace_until())));
  }
  if (status.has_brake()) {
    fields.emplace_back("brake", BrakePulledText(status.container(), status.brake()));
  }
}

void AddRates(const v1::ContainerExpiryStatus& status, Fields& fields) {
  fields.emplace_back("allowed", AllowedText(status));
  if (status.has_budget()) fields.emplace_back("budget", BudgetText(status.budget()));
  if (status.has_push_back_deletes_per_second()) {
    fields.emplace_back(
        "push-back", absl::StrCat("the store accepts ",
                                  FormatMeasured(status.push_back_deletes_per_second()), "/s now"));
  }
}

void AddDeletes(const v1::ContainerExpiryStatus& status, Fields& fields) {
  fields.emplace_back("deletes", TallyText(status.deletes()));
  if (!status.failures().empty()) fields.emplace_back("failures", FailuresText(status));
  if (status.failing_items() != 0) {
    fields.emplace_back("stuck", absl::StrCat(FormatCount(status.failing_items()),
                                              " with failed attempts: ttlctl stuck ",
                                              IdArguments({status.container()})));
  }
  fields.emplace_back("lateness", LatenessText(status.lateness()));
  fields.emplace_back("caught up", status.has_last_complete_pass_time()
                                       ? TimeText(ToTime(status.last_complete_pass_time()))
                                       : "not since the start");
}

}  // namespace

std::string ContainerStatusesText(std::vector<v1::ContainerExpiryStatus> containers) {
  if (containers.empty()) return "no containers\n";
  std::stable_sort(containers.begin(), containers.end(), IsOlder);
  Table due({"CONTAINER", "OLDEST DUE", "BACKLOG", "EXPIRED", "HELD BACK BY"});
  Table counts({"CONTAINER", "LIVE", "ALLOWED", "DELETED", "FAILED"});
  for (const v1::ContainerExpiryStatus& status : containers) {
    const int64_t bound = status.items().error_bound_items();
    due.AddRow({status.container(), OldestDueText(status), BriefBacklog(status),
                BriefCount(status.items().expired_items(), bound), HoldsText(status.holds())});
    counts.AddRow({status.container(), BriefCount(status.items().live_items(), bound),
                   AllowedText(status), FormatCount(status.deletes().deleted()),
                   FormatCount(Unsuccessful(status.deletes()))});
  }
  return absl::StrCat(due.Render(), "\n", counts.Render());
}

std::string LimitsText(const v1::ListExpiryStatusesResponse& statuses) {
  const v1::SidecarStatus& sidecar = statuses.sidecar();
  std::string text =
      FormatFields({{"over all containers", LimitText(sidecar.has_max_deletes_per_second(),
                                                      sidecar.max_deletes_per_second())}});
  if (statuses.containers().empty()) return text;
  Table table({"CONTAINER", "ALLOWED NOW"});
  for (const v1::ContainerExpiryStatus& status : statuses.containers()) {
    table.AddRow({status.container(), AllowedText(status)});
  }
  return absl::StrCat(text, "\n", table.Render());
}

std::string ContainerStatusText(const v1::ContainerExpiryStatus& status) {
  Fields fields = {
      {"container", status.container()},
      {"oldest due", OldestDueSentence(status)},
      {"backlog", absl::StrCat(BacklogText(status), " due and not yet deleted")},
      {"items", ItemsText(status.items())},
      {"will expire", ForecastText(status.items().expiring_per_hour())},
  };
  if (!status.backlog_problem().empty()) {
    fields.insert(fields.begin() + 3, {"problem", absl::StrCat("the expiry index cannot be read: ",
                                                               status.backlog_problem())});
  }
  AddHolds(status, fields);
  AddRates(status, fields);
  AddDeletes(status, fields);
  if (status.has_feed()) fields.emplace_back("feed", FeedStatusText(status.feed()));
  fields.emplace_back("index",
                      absl::StrCat(IndexProgressText(status.index_progress()), ", ",
                                   FormatCount(status.early_entries()), " early entries moved"));
  return FormatFields(fields);
}

std::string BrakePulledText(const std::string& container, const v1::BrakeStatus& brake) {
  return absl::StrCat(
      "PULLED: a policy change or an adoption made ", FormatCount(brake.newly_due_items()),
      " items due; they wait until ", TimeText(ToTime(brake.until())),
      "\nif this is intended: ttlctl containers confirm ", IdArguments({container}));
}

Table StuckTable() { return Table({"ITEM", "ATTEMPTS", "NEXT TRY", "LAST ERROR"}); }

void AddStuckRow(const v1::StuckItem& item, Table& table) {
  table.AddRow({ItemKeyText(item.partition_key(), item.id()), FormatCount(item.attempts()),
                FormatUnixSeconds(item.next_try_time()), KeyToText(item.last_error())});
}

}  // namespace ttl
