#include "client/ttlctl/text/status_text.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ttlctl/text/count_text.h"
#include "client/ttlctl/text/format.h"
#include "client/ttlctl/text/shell_word.h"
#include "service/base/time_text.h"
#include "ttl/proto_time.h"

namespace ttl {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string SignedSpan(absl::Duration duration) {
  std::string span = FormatSpan(duration);
  if (span == "0s" || duration < absl::ZeroDuration()) return span;
  return absl::StrCat("+", span);
}

std::string HealthText(const v1::SidecarHealth& health) {
  switch (health.state()) {
    case v1::HEALTH_STATE_HEALTHY:
      return "healthy";
    case v1::HEALTH_STATE_DEGRADED:
      return absl::StrCat("DEGRADED\n", absl::StrJoin(health.reasons(), "\n"));
    default:
      return "state unknown";
  }
}

std::string SweepText(const v1::SweepStatus& sweep, absl::Time now) {
  std::string text = sweep.stalled() ? "STALLED, " : "";
  if (sweep.has_last_step_time()) {
    absl::StrAppend(&text, "last step ", FormatSpan(now - ToTime(sweep.last_step_time())), " ago");
  } else {
    absl::StrAppend(&text, "no step yet");
  }
  absl::StrAppend(&text, ", ", sweep.calls_under_way(),
                  sweep.calls_under_way() == 1 ? " call" : " calls", " to the store in flight");
  return text;
}

std::string StoreText(const v1::StoreStatus& store, absl::Time now) {
  const bool nothing_is_known = store.ByteSizeLong() == 0;
  if (nothing_is_known) return "no call yet, or no store configured";
  std::string text = store.reachable() ? "reachable" : "NOT REACHABLE";
  if (!store.store_id().empty()) absl::StrAppend(&text, ", id ", OneLine(store.store_id()));
  if (store.has_last_success_time()) {
    absl::StrAppend(&text, ", last answer ", FormatSpan(now - ToTime(store.last_success_time())),
                    " ago");
  }
  if (store.has_clock_skew()) {
    absl::StrAppend(&text, ", clock skew (sidecar minus store) ",
                    SignedSpan(ToDuration(store.clock_skew())));
  }
  if (store.has_held_until()) {
    absl::StrAppend(&text, "\nno calls until ", TimeText(ToTime(store.held_until())));
  }
  if (!store.last_error().empty())
    absl::StrAppend(&text, "\nlast error: ", OneLine(store.last_error()));
  if (!store.unconfirmed().empty()) {
    absl::StrAppend(&text, "\nNO DELETES UNTIL CONFIRMED: ", store.unconfirmed(),
                    "\nif it is the right store: ttlctl store confirm ",
                    IdArguments({store.store_id()}));
  }
  return text;
}

}  // namespace

std::string ClockText(const v1::ClockStatus& clock) {
  std::string text = clock.state() == v1::CLOCK_STATE_SOUND     ? "sound"
                     : clock.state() == v1::CLOCK_STATE_SUSPECT ? "SUSPECT, no deletes"
                                                                : "state unknown";
  absl::StrAppend(&text, ", now ", TimeText(ToTime(clock.now())));
  if (clock.state() == v1::CLOCK_STATE_SOUND) return text;
  const auto reading = [](bool has, const google::protobuf::Timestamp& time) {
    return has ? TimeText(ToTime(time)) : std::string("no sound reading");
  };
  absl::StrAppend(&text, "\nwall clock ", reading(clock.has_wall(), clock.wall()),
                  ", steady clock ", reading(clock.has_steady(), clock.steady()));
  if (clock.has_suspect_since()) {
    absl::StrAppend(&text, "\nsince ", TimeText(ToTime(clock.suspect_since())));
  }
  if (!clock.reason().empty()) absl::StrAppend(&text, "\n", clock.reason());
  return text;
}

std::string PauseText(const v1::PauseState& pause) {
  return absl::StrCat("\"", OneLine(pause.reason()), "\" since ", TimeText(ToTime(pause.since())),
                      pause.author().empty() ? "" : " by ", pause.author());
}

std::string SidecarText(const v1::SidecarStatus& sidecar, absl::string_view address) {
  const absl::Time now = ToTime(sidecar.clock().now());
  Fields fields = {
      {"sidecar", absl::StrCat(address, ", up ", FormatSpan(now - ToTime(sidecar.start_time())))},
      {"health", HealthText(sidecar.health())},
      {"clock", ClockText(sidecar.clock())},
      {"store", StoreText(sidecar.store(), now)},
      {"storage", sidecar.storage_writable()
                      ? "writable"
                      : absl::StrCat("NOT WRITABLE: ", sidecar.storage_problem())},
      {"deletes", absl::StrCat(LimitText(sidecar.has_max_deletes_per_second(),
                                         sidecar.max_deletes_per_second()),
                               " over all containers")},
  };
  if (sidecar.has_pause()) {
    fields.emplace_back("", absl::StrCat("ALL PAUSED: ", PauseText(sidecar.pause())));
  }
  fields.emplace_back("sweep", SweepText(sidecar.sweep(), now));
  if (sidecar.impossible_checks() != 0) {
    fields.emplace_back("checks", absl::StrCat(FormatCount(sidecar.impossible_checks()),
                                               " carried an impossible ts or ttl"));
  }
  return FormatFields(fields);
}

}  // namespace ttl
