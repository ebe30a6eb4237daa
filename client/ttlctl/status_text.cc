#include "client/ttlctl/status_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/proto_time.h"
#include "client/ttlctl/container_text.h"
#include "client/ttlctl/format.h"
#include "client/ttlctl/hold_text.h"
#include "client/ttlctl/table.h"

namespace ttl {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string SignedSpan(absl::Duration duration) {
  return absl::StrCat(duration < absl::ZeroDuration() ? "" : "+", FormatSpan(duration));
}

std::string StoreText(const v1::StoreStatus& store, absl::Time now) {
  std::string text = store.reachable() ? "reachable" : "NOT REACHABLE";
  if (!store.store_id().empty()) absl::StrAppend(&text, ", id ", store.store_id());
  if (store.has_last_success_time()) {
    absl::StrAppend(&text, ", last answer ", FormatSpan(now - ToTime(store.last_success_time())),
                    " ago");
  }
  if (store.has_clock_skew()) {
    absl::StrAppend(&text, ", our clock minus its clock ",
                    SignedSpan(ToDuration(store.clock_skew())));
  }
  if (store.has_held_until()) {
    absl::StrAppend(&text, "\nno calls until ", FormatInstant(ToTime(store.held_until())));
  }
  if (!store.last_error().empty()) absl::StrAppend(&text, "\nlast error: ", store.last_error());
  return text;
}

std::string RateText(bool limited, double rate) {
  return limited ? absl::StrCat(FormatRate(rate), "/s") : "no limit";
}

std::string OldestDueText(const v1::ContainerExpiryStatus& status) {
  return status.has_oldest_due_age() ? FormatSpan(ToDuration(status.oldest_due_age())) : "-";
}

std::string BacklogText(const v1::ContainerExpiryStatus& status) {
  return absl::StrCat(status.backlog_is_lower_bound() ? "at least " : "",
                      FormatCount(status.backlog()));
}

// Deletes that were sent and did not end in the item being gone or newer.
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
      {tally.throttled(), "throttled"},
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

}  // namespace

std::string ClockText(const v1::ClockStatus& clock) {
  std::string text = clock.state() == v1::CLOCK_STATE_SOUND     ? "sound"
                     : clock.state() == v1::CLOCK_STATE_SUSPECT ? "SUSPECT, no deletes"
                                                                : "state unknown";
  absl::StrAppend(&text, ", now ", FormatInstant(ToTime(clock.now())));
  if (clock.state() == v1::CLOCK_STATE_SOUND) return text;
  const auto reading = [](bool has, const google::protobuf::Timestamp& time) {
    return has ? FormatInstant(ToTime(time)) : std::string("no sound reading");
  };
  absl::StrAppend(&text, "\nwall clock ", reading(clock.has_wall(), clock.wall()),
                  ", steady clock ", reading(clock.has_steady(), clock.steady()));
  if (clock.has_suspect_since()) {
    absl::StrAppend(&text, "\nsince ", FormatInstant(ToTime(clock.suspect_since())));
  }
  if (!clock.reason().empty()) absl::StrAppend(&text, "\n", clock.reason());
  return text;
}

std::string PauseText(const v1::PauseState& pause) {
  return absl::StrCat("\"", pause.reason(), "\" since ", FormatInstant(ToTime(pause.since())));
}

std::string SidecarText(const v1::SidecarStatus& sidecar, absl::string_view address) {
  const absl::Time now = ToTime(sidecar.clock().now());
  Fields fields = {
      {"sidecar", absl::StrCat(address, ", up ", FormatSpan(now - ToTime(sidecar.start_time())))},
      {"clock", ClockText(sidecar.clock())},
      {"store", StoreText(sidecar.store(), now)},
      {"storage", sidecar.storage_writable()
                      ? "takes writes"
                      : absl::StrCat("REFUSES WRITES: ", sidecar.storage_problem())},
      {"deletes", absl::StrCat(RateText(sidecar.has_max_deletes_per_second(),
                                        sidecar.max_deletes_per_second()),
                               " over all containers")},
  };
  if (sidecar.has_pause()) {
    fields.emplace_back("", absl::StrCat("ALL PAUSED: ", PauseText(sidecar.pause())));
  }
  if (sidecar.impossible_checks() != 0) {
    fields.emplace_back("checks", absl::StrCat(FormatCount(sidecar.impossible_checks()),
                                               " carried an impossible ts or ttl"));
  }
  return FormatFields(fields);
}

std::string ContainerStatusesText(std::vector<v1::ContainerExpiryStatus> containers) {
  if (containers.empty()) return "no containers\n";
  std::stable_sort(containers.begin(), containers.end(), IsOlder);
  Table table(
      {"CONTAINER", "OLDEST DUE", "BACKLOG", "ALLOWED", "DELETED", "FAILED", "HELD BACK BY"});
  for (const v1::ContainerExpiryStatus& status : containers) {
    table.AddRow(
        {status.container(), OldestDueText(status), BacklogText(status),
         RateText(status.has_allowed_deletes_per_second(), status.allowed_deletes_per_second()),
         FormatCount(status.deletes().deleted()), FormatCount(Unsuccessful(status.deletes())),
         HoldsText(status.holds())});
  }
  return table.Render();
}

std::string ContainerStatusText(const v1::ContainerExpiryStatus& status) {
  Fields fields = {
      {"container", status.container()},
      {"oldest due", status.has_oldest_due_age() ? absl::StrCat(OldestDueText(status), " ago")
                                                 : "nothing is due"},
      {"backlog", absl::StrCat(BacklogText(status), " due and not yet deleted")},
      {"held back by", HoldsText(status.holds())},
  };
  if (status.has_pause()) fields.emplace_back("paused", PauseText(status.pause()));
  if (status.has_grace_until()) {
    fields.emplace_back("grace until", FormatInstant(ToTime(status.grace_until())));
  }
  fields.emplace_back("allowed", RateText(status.has_allowed_deletes_per_second(),
                                          status.allowed_deletes_per_second()));
  fields.emplace_back("deletes", TallyText(status.deletes()));
  fields.emplace_back("index",
                      absl::StrCat(IndexProgressText(status.index_progress()), ", ",
                                   FormatCount(status.early_entries()), " early entries moved"));
  return FormatFields(fields);
}

}  // namespace ttl
