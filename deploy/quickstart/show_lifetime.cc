#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "deploy/quickstart/shows.h"
#include "ttl/proto_time.h"

namespace ttl::quickstart {
namespace {

constexpr char kSessions[] = "sessions";
constexpr char kDocument[] = "session-42";
constexpr int64_t kTtlSeconds = 3;
constexpr int64_t kDelaySeconds = 1;
constexpr absl::Duration kTouchAfter = absl::Seconds(2);
constexpr absl::Duration kViewInterval = absl::Milliseconds(10);
constexpr absl::Duration kViewPatience = absl::Seconds(10);

// What Get, Query and the count of stored documents say at about one instant.
struct View {
  Sighting get;
  Sighting query;
  int64_t stored = 0;

  bool operator==(const View& other) const {
    return get.visible == other.get.visible && query.visible == other.query.visible &&
           stored == other.stored;
  }
};

// Follows the document from its first write on.
class Watch {
 public:
  Watch(DemoClient& client, Report& report, absl::Time written)
      : client_(client), report_(report), written_(written) {}

  void Print(absl::Time at, absl::string_view event, const View& view) {
    report_.Line(absl::StrFormat("%+6.2f s   %-12s%-9d%-9d%s", absl::ToDoubleSeconds(at - written_),
                                 view.get.visible ? "found" : "not found",
                                 view.query.visible ? 1 : 0, view.stored, event));
  }

  // Looks once; both answers must be right for a document that expires then.
  View Look(absl::Time expire_time) {
    View view{client_.Get(kSessions, kDocument), client_.Query(kSessions).Of(kDocument),
              client_.CountStored(kSessions).stored()};
    report_.Expect(AgreesWith(view.get, expire_time), "Get answers by the second");
    report_.Expect(AgreesWith(view.query, expire_time), "Query answers by the second");
    return view;
  }

  // Looks until the view is no longer `view`, at most until `deadline`.
  View LookUntilChanged(const View& view, absl::Time expire_time, absl::Time deadline) {
    View next = view;
    while (next == view && absl::Now() < deadline) {
      absl::SleepFor(kViewInterval);
      next = Look(expire_time);
    }
    return next;
  }

 private:
  DemoClient& client_;
  Report& report_;
  const absl::Time written_;
};

void CreateContainer(DemoClient& client) {
  v1::Container container;
  container.set_id(kSessions);
  container.set_default_ttl(-1);
  container.mutable_delete_policy()->mutable_delay()->set_seconds(kDelaySeconds);
  client.CreateContainer(container);
}

// From the touch to the deletion. Returns how long after its due time the
// document was deleted.
absl::Duration FollowToTheEnd(DemoClient& client, Report& report, Watch& watch,
                              absl::Time expire_time) {
  const absl::Time deadline = expire_time + kViewPatience;
  View view = watch.Look(expire_time);
  watch.Print(absl::Now(), "touched: the countdown starts again", view);

  view = watch.LookUntilChanged(view, expire_time, deadline);
  // The second boundary may fall between the two calls.
  if (view.get.visible != view.query.visible) view = watch.Look(expire_time);
  watch.Print(view.get.latest, "invisible at its second, still stored", view);
  report.Expect(!view.get.visible && !view.query.visible && view.stored == 1,
                "an expired document is invisible before it is deleted");

  view = watch.LookUntilChanged(view, expire_time, deadline);
  const auto count = client.CountStored(kSessions);
  const absl::Time deleted = ToTime(count.last_expired_delete_time());
  watch.Print(deleted, "deleted in the background", view);
  report.Expect(view.stored == 0 && count.expired_deleted() == 1,
                "the expired document is deleted from the store");
  const absl::Time due = expire_time + absl::Seconds(kDelaySeconds);
  report.Expect(deleted >= due, "nothing is deleted before its expiry and delay");
  return deleted - due;
}

}  // namespace

void ShowLifetime(DemoClient& client, Report& report) {
  report.Heading(
      absl::StrFormat("2. A lifetime: %s, ttl = %d s, deleted at the earliest %d s after expiry",
                      kDocument, kTtlSeconds, kDelaySeconds));
  CreateContainer(client);
  report.Line(absl::StrFormat("%8s   %-12s%-9s%-9s", "time", "Get", "Query", "stored"));

  const absl::Time ts = absl::FromUnixSeconds(client.Put(kSessions, kDocument, kTtlSeconds).ts());
  Watch watch(client, report, ts);
  watch.Print(absl::Now(), "written", watch.Look(ts + absl::Seconds(kTtlSeconds)));

  absl::SleepFor(ts + kTouchAfter - absl::Now());
  const absl::Time touched = absl::FromUnixSeconds(client.Touch(kSessions, kDocument).ts());
  report.Expect(touched >= ts + kTouchAfter, "a touch moves _ts");
  const absl::Duration late =
      FollowToTheEnd(client, report, watch, touched + absl::Seconds(kTtlSeconds));
  report.Line(
      absl::StrFormat("lag: deleted %d ms after it was due", absl::ToInt64Milliseconds(late)));
}

}  // namespace ttl::quickstart
