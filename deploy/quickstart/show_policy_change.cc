#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "deploy/quickstart/shows.h"

namespace ttl::quickstart {
namespace {

constexpr char kOrders[] = "orders";
constexpr absl::Duration kCountInterval = absl::Milliseconds(50);
constexpr absl::Duration kDeletePatience = absl::Seconds(30);
// What may be sent at once on top of the rate: one batch, as the sidecar's
// default has it.
constexpr double kBatchItems = 500;

double SecondsOf(absl::Duration duration) { return absl::ToDoubleSeconds(duration); }

// Runs one change of default_ttl and shows what the very next query says.
void Change(DemoClient& client, Report& report, const PolicyChangeOptions& options,
            const std::string& default_ttl, int expected_visible, absl::string_view meaning) {
  const std::string arguments =
      absl::StrCat("containers set ", kOrders, " --default-ttl ", default_ttl);
  report.Command(absl::StrCat("ttlctl ", arguments));
  const absl::Time start = absl::Now();
  const bool succeeded = options.run_ttlctl(arguments);
  const absl::Duration took = absl::Now() - start;
  report.Expect(succeeded, "ttlctl succeeds");

  const int visible = static_cast<int>(client.Query(kOrders).ids.size());
  const int64_t stored = client.CountStored(kOrders).stored();
  const bool right = report.Expect(visible == expected_visible,
                                   absl::StrFormat("the next query shows %d", expected_visible));
  report.Line(absl::StrFormat("%.2f s; the next query shows %d of %d stored: %s   %s",
                              SecondsOf(took), visible, stored, meaning, report.Verdict(right)));
}

// Waits until all is deleted, watching that the grace and the rate are kept.
void WatchDeletion(DemoClient& client, Report& report, const PolicyChangeOptions& options,
                   absl::Time changed) {
  const absl::Time grace_end = changed + options.policy_grace;
  const int64_t wrong_before = report.wrong();
  int64_t deleted = 0;
  absl::Time now = absl::Now();
  for (; deleted < options.documents && now < grace_end + kDeletePatience; now = absl::Now()) {
    absl::SleepFor(kCountInterval);
    deleted = client.CountStored(kOrders).expired_deleted();
    const absl::Duration sending = std::max(absl::ZeroDuration(), absl::Now() - grace_end);
    const double allowed = options.max_deletes_per_second * SecondsOf(sending) + kBatchItems;
    report.Expect(
        sending > absl::ZeroDuration() ? deleted <= allowed : deleted == 0,
        absl::StrFormat("%d deleted %.2f s after the grace", deleted, SecondsOf(sending)));
  }
  report.Expect(deleted == options.documents, "all of them are deleted");
  report.Line(absl::StrFormat(
      "deleted: %d, in %.1f s after %.0f s of grace; limit %.0f deletes/s   %s", deleted,
      SecondsOf(now - grace_end), SecondsOf(options.policy_grace), options.max_deletes_per_second,
      report.Verdict(report.wrong() == wrong_before)));
}

}  // namespace

void ShowPolicyChange(DemoClient& client, Report& report, const PolicyChangeOptions& options) {
  report.Heading(absl::StrFormat("3. A policy: default_ttl changed over %d documents at once",
                                 options.documents));
  v1::Container container;
  container.set_id(kOrders);
  client.CreateContainer(container);

  const absl::Time start = absl::Now();
  const int64_t latest_ts = client.PutMany(kOrders, "order-", options.documents);
  report.Line(absl::StrFormat("%d documents written and reported in %.1f s", options.documents,
                              SecondsOf(absl::Now() - start)));
  const int visible = static_cast<int>(client.Query(kOrders).ids.size());
  report.Expect(visible == options.documents, "all written documents are visible");

  // From then on a default_ttl of one second finds every one of them expired.
  absl::SleepFor(absl::FromUnixSeconds(latest_ts + 1) - absl::Now());
  Change(client, report, options, "1", 0, "hidden at once");
  Change(client, report, options, "off", options.documents, "in time, nothing was lost");
  const absl::Time before = absl::Now();
  Change(client, report, options, "1", 0, "hidden again");
  WatchDeletion(client, report, options, before);
}

}  // namespace ttl::quickstart
