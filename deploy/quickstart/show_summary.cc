#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "deploy/quickstart/shows.h"

namespace ttl::quickstart {
namespace {

// Items that have just expired may still be on their way out.
constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr absl::Duration kPollInterval = absl::Milliseconds(50);

std::string Age(const v1::ContainerExpiryStatus& status) {
  if (!status.has_oldest_due_age()) return "none";
  return absl::StrFormat("%d s", status.oldest_due_age().seconds());
}

bool AnyBacklog(const std::vector<v1::ContainerExpiryStatus>& statuses) {
  for (const auto& status : statuses) {
    if (status.backlog() > 0) return true;
  }
  return false;
}

}  // namespace

void ShowSummary(DemoClient& client, Report& report) {
  report.Heading("4. Summary");
  const absl::Time deadline = absl::Now() + kPatience;
  auto statuses = client.ExpiryStatuses();
  while (AnyBacklog(statuses) && absl::Now() < deadline) {
    absl::SleepFor(kPollInterval);
    statuses = client.ExpiryStatuses();
  }

  report.Line(absl::StrFormat("%-18s%9s%9s%9s%9s   %s", "container", "visible", "stored", "deleted",
                              "backlog", "oldest overdue"));
  for (const auto& status : statuses) {
    const auto visible = static_cast<int64_t>(client.Query(status.container()).ids.size());
    const auto count = client.CountStored(status.container());
    report.Line(absl::StrFormat("%-18s%9d%9d%9d%9d   %s", status.container(), visible,
                                count.stored(), status.deletes().deleted(), status.backlog(),
                                Age(status)));
    report.Expect(visible == count.stored(), "the store holds what is visible and no more");
    report.Expect(status.backlog() == 0, "nothing is left to delete");
    report.Expect(status.deletes().deleted() == count.expired_deleted(),
                  "sidecar and store have counted the same deletes");
  }
  report.Line();
  report.Line(absl::StrFormat("%d checks, %d wrong", report.checked(), report.wrong()));
}

}  // namespace ttl::quickstart
