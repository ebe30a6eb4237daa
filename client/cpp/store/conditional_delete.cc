#include "client/cpp/store/conditional_delete.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/store/store_error.h"
#include "google/protobuf/util/time_util.h"
#include "ttl/proto_time.h"
#include "ttl/store_busy.h"

namespace ttl {
namespace {

using Found = absl::StatusOr<std::optional<v1::Item>>;

absl::Status CheckRequest(const PrimaryStore& store, const v1::DeleteItemsRequest& request) {
  if (!request.has_not_after()) return absl::InvalidArgumentError("not_after is missing");
  if (request.items().empty()) {
    return absl::InvalidArgumentError("items has no entries: at least 1 is required");
  }
  // The sidecar may have known another store at this address.
  const std::string id = store.store_id();
  if (request.store_id().empty() || request.store_id() == id) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("store_id is \"", absl::CHexEscape(request.store_id()), "\": this store is \"",
                   absl::CHexEscape(id), "\""));
}

// Of as many items as the store takes at once. The sidecar sends more if it asked for the limit
// before the store was started again with a lower one.
std::vector<StoredKey> KeysToJudge(const PrimaryStore& store,
                                   const v1::DeleteItemsRequest& request) {
  const int most = store.features().max_batch_items;
  const int count = most > 0 ? std::min(most, request.items_size()) : request.items_size();
  std::vector<StoredKey> keys;
  keys.reserve(count);
  for (int i = 0; i < count; ++i) {
    keys.push_back({request.items(i).partition_key(), request.items(i).id()});
  }
  return keys;
}

v1::DeleteResult ResultOf(v1::DeleteOutcome outcome) {
  v1::DeleteResult result;
  result.set_outcome(outcome);
  return result;
}

bool IsJudgedVersion(const v1::Item& found, const v1::ExpiredItem& item) {
  return found.ts() == item.ts() && found.has_ttl() == item.has_ttl() &&
         found.ttl() == item.ttl() && found.has_expire_at() == item.has_expire_at() &&
         found.expire_at() == item.expire_at() &&
         (item.etag().empty() || found.etag() == item.etag());
}

// DELETED means that the item may be deleted.
v1::DeleteResult JudgeStored(const v1::ExpiredItem& item, const Found& found, absl::Time now,
                             absl::Time not_after) {
  if (!found.ok()) {
    v1::DeleteResult failed = ResultOf(v1::DELETE_OUTCOME_FAILED);
    failed.set_reason(
        absl::StrCat("the item cannot be read: ", absl::CHexEscape(found.status().message())));
    return failed;
  }
  if (!found->has_value()) return ResultOf(v1::DELETE_OUTCOME_NOT_FOUND);
  if (!IsJudgedVersion(**found, item)) {
    v1::DeleteResult modified = ResultOf(v1::DELETE_OUTCOME_MODIFIED);
    *modified.mutable_current() = **found;
    modified.mutable_current()->set_partition_key(item.partition_key());
    modified.mutable_current()->set_id(item.id());
    return modified;
  }
  // Without etags, a rewrite within the second of ts looks like the judged version. It is as old,
  // so it may go once the store's own clock says that this age is expired.
  if (now < absl::FromUnixSeconds(item.expire_time())) {
    return ResultOf(v1::DELETE_OUTCOME_NOT_EXPIRED);
  }
  return ResultOf(now < not_after ? v1::DELETE_OUTCOME_DELETED : v1::DELETE_OUTCOME_THROTTLED);
}

// Judges the first items of the request, whose keys are `keys`. REQUIRES: the keys are locked.
absl::Status JudgeAndDelete(PrimaryStore& store, const v1::DeleteItemsRequest& request,
                            absl::Span<const StoredKey> keys, v1::DeleteItemsResponse& response) {
  response.Clear();
  std::vector<Found> stored;
  for (const StoredKey& key : keys) {
    stored.push_back(store.Read(request.container(), key));
    if (BusyTimeOf(stored.back().status()).has_value()) return stored.back().status();
  }
  // Read last: locks and reads may have taken time.
  const absl::Time now = store.Now();
  const absl::Time not_after = ToTime(request.not_after());
  const int judged = static_cast<int>(keys.size());
  std::set<StoredKey> to_delete;
  for (int i = 0; i < judged; ++i) {
    v1::DeleteResult result = JudgeStored(request.items(i), stored[i], now, not_after);
    const bool is_deleted = result.outcome() == v1::DELETE_OUTCOME_DELETED;
    if (is_deleted && !to_delete.insert(keys[i]).second) {
      result = ResultOf(v1::DELETE_OUTCOME_NOT_FOUND);  // the key came twice
    }
    *response.add_results() = std::move(result);
  }
  const int deleted = static_cast<int>(to_delete.size());
  const auto charge = store.RequestCharge(deleted, judged - deleted);
  if (charge.has_value()) response.set_request_charge(*charge);
  if (to_delete.empty()) return absl::OkStatus();
  const std::vector<StoredKey> deleted_keys(to_delete.begin(), to_delete.end());
  const absl::Status status = store.Delete(request.container(), deleted_keys);
  return status.ok() ? status : StoreError("Delete", status);
}

// Puts off the items that have no result yet.
void ThrottleRest(int items, v1::DeleteItemsResponse& response) {
  while (response.results_size() < items) {
    *response.add_results() = ResultOf(v1::DELETE_OUTCOME_THROTTLED);
  }
}

void ThrottleAll(int items, absl::Duration retry_after, v1::DeleteItemsResponse& response) {
  response.Clear();
  ThrottleRest(items, response);
  *response.mutable_retry_after() = google::protobuf::util::TimeUtil::NanosecondsToDuration(
      absl::ToInt64Nanoseconds(retry_after));
}

}  // namespace

absl::StatusOr<v1::DeleteItemsResponse> DeleteExpiredItems(PrimaryStore& store,
                                                           const v1::DeleteItemsRequest& request) {
  if (absl::Status status = CheckRequest(store, request); !status.ok()) return status;
  v1::DeleteItemsResponse response;
  const std::vector<StoredKey> keys = KeysToJudge(store, request);
  absl::Status status = absl::InternalError("the store's WithLock() did not call its work");
  // Held until the batch is deleted: nobody rewrites an item between comparison and delete.
  const absl::Status locked = store.WithLock(
      request.container(), keys, [&] { status = JudgeAndDelete(store, request, keys, response); });
  if (!locked.ok()) status = StoreError("WithLock", locked);
  if (const auto retry_after = BusyTimeOf(status); retry_after.has_value()) {
    ThrottleAll(request.items_size(), *retry_after, response);
  } else if (!status.ok()) {
    return status;
  }
  ThrottleRest(request.items_size(), response);
  *response.mutable_store_now() = ToTimestamp(store.Now());
  return response;
}

}  // namespace ttl
