#ifndef TTL_CLIENT_H_
#define TTL_CLIENT_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "ttl/client_options.h"
#include "ttl/touch_answer.h"
#include "ttl/v1/item_service.pb.h"
#include "ttl/visibility_answer.h"

namespace ttl {

class ContainerClient;
class FeedClient;
class OperatorClient;

// Client of a ttl-sidecar: the data path of a primary store by itself, and containers(), feed() and
// operations() for the rest of ttl.v1. Its values are the messages of the API; the comments in
// protos/ttl/v1 describe their fields, limits and errors.
//
// Every call blocks for at most its deadline (see TtlClientOptions) and returns the server's status
// code and message. It returns UNAVAILABLE if the server cannot be reached, DEADLINE_EXCEEDED if it
// does not respond in time, and INTERNAL if its response violates the API.
//
// Until its deadline a call waits for a sidecar that is down or restarts (see
// TtlClientOptions::wait_for_sidecar). The client retries reads, holds, acknowledgements, touches,
// and reports in which every entry has a sequence, also if it does not know whether they were
// applied; other reports only if the sidecar refused them, at most 4 attempts in all; operators'
// other changes only if nothing was sent, because a repeated change could undo another operator's.
// Streams are not retried, except by an EventWatcher.
//
// The plural data-path methods take any number of entries. They send them in order, at most
// kMaxEntriesPerCall per call; the server validates each call as a whole and applies all of it or
// nothing. The first call that fails ends the method. If there was more than one call, the error
// says which entries failed: the entries before them are applied, those after them were not sent.
// Without entries there is no call.
//
// Thread-safe. Construction does not connect; the first call connects, and later calls reconnect if
// the connection is lost. gRPC does not support fork: in a child of the process that created the
// client every call fails with FAILED_PRECONDITION, and the client must not be destroyed there.
class TtlClient {
 public:
  static constexpr size_t kMaxEntriesPerCall = 1000;

  explicit TtlClient(TtlClientOptions options = {});
  ~TtlClient();

  TtlClient(const TtlClient&) = delete;
  TtlClient& operator=(const TtlClient&) = delete;

  // The address given in the options.
  const std::string& address() const;

  // The calls of other audiences, over the same connection: ttl/container_client.h,
  // ttl/feed_client.h, ttl/operator_client.h. They are valid as long as the client.
  ContainerClient& containers();
  FeedClient& feed();
  OperatorClient& operations();

  // A report is durable when its method returns OK.

  absl::StatusOr<v1::TrackResult> TrackItem(absl::string_view container, const v1::Item& item);
  absl::StatusOr<std::vector<v1::TrackResult>> TrackItems(absl::string_view container,
                                                          absl::Span<const v1::Item> items);
  // As TrackItems, for items that the store had before; see TrackItemsRequest.adopted.
  absl::StatusOr<std::vector<v1::TrackResult>> AdoptItems(absl::string_view container,
                                                          absl::Span<const v1::Item> items);

  absl::StatusOr<v1::UntrackResult> UntrackItem(absl::string_view container,
                                                const v1::ItemDeletion& deletion);
  absl::StatusOr<std::vector<v1::UntrackResult>> UntrackItems(
      absl::string_view container, absl::Span<const v1::ItemDeletion> deletions);

  // Starts the countdown of items again, as of now, in a container with allow_touch. Leaves an item
  // alone whose countdown has started within `unless_touched_within`, whole seconds; with it, a
  // store can touch an item each time it is read. Returns one answer per key, in order. A touch is
  // durable when its method returns OK. A touch that is repeated after a lost answer may say
  // RECENT. One that the sidecar cannot judge for some time, because the tracked data is in doubt
  // or its clock is suspect, is UNAVAILABLE at once, with the reason TOUCH_UNAVAILABLE: serve the
  // read all the same.
  absl::StatusOr<TouchAnswer> TouchItem(
      absl::string_view container, const v1::ItemKey& key,
      absl::Duration unless_touched_within = absl::ZeroDuration());
  absl::StatusOr<std::vector<TouchAnswer>> TouchItems(
      absl::string_view container, absl::Span<const v1::ItemKey> keys,
      absl::Duration unless_touched_within = absl::ZeroDuration());

  // Return one answer per check, in order. Concurrent calls of CheckItem() share messages to the
  // sidecar, unless TtlClientOptions::share_checks is off.
  absl::StatusOr<VisibilityAnswer> CheckItem(absl::string_view container,
                                             const v1::VisibilityCheck& check);
  absl::StatusOr<std::vector<VisibilityAnswer>> CheckVisibility(
      absl::string_view container, absl::Span<const v1::VisibilityCheck> checks);

  // The same as of an instant at most an hour before the sidecar's clock, so that several calls of
  // one query agree; usually judged_at of its first answer. See CheckVisibilityRequest.as_of.
  absl::StatusOr<std::vector<VisibilityAnswer>> CheckVisibility(
      absl::string_view container, absl::Span<const v1::VisibilityCheck> checks, absl::Time as_of);

  // NOT_FOUND if the item is expired or not tracked.
  absl::StatusOr<v1::GetItemResponse> GetItem(absl::string_view container,
                                              absl::string_view partition_key,
                                              absl::string_view id);

  // One page; the next one starts at next_page_token of the response.
  absl::StatusOr<v1::ListItemsResponse> ListItems(const v1::ListItemsRequest& request);

  // Adds request units to the usage of the container's throughput; call it for every request that
  // the store serves. It is cheap: from the first use on, a thread of the client reports the sum
  // once a second, also if it is zero. Errors are not returned: usage that could not be reported is
  // added to the next report, and the sidecar counts missing reports as full use. Does nothing if
  // TtlClientOptions::report_usage is off.
  void AddUsage(absl::string_view container, double request_units);

 private:
  class State;

  const std::unique_ptr<State> state_;
};

}  // namespace ttl

#endif  // TTL_CLIENT_H_
