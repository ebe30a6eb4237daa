#include "client/examples/document_store/primary_store.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/examples/document_store/proto_time.h"
#include "client/examples/document_store/request_prices.h"
#include "spdlog/spdlog.h"

namespace documentstore {
namespace {

absl::Status Validate(const ttl::v1::DeleteItemsRequest& request) {
  if (!request.has_not_after()) return absl::InvalidArgumentError("not_after is missing");
  if (request.items_size() < 1 || request.items_size() > PrimaryStore::kMaxBatchItems) {
    return absl::InvalidArgumentError(absl::StrCat("items has ", request.items_size(),
                                                   " entries; 1 to ", PrimaryStore::kMaxBatchItems,
                                                   " are allowed"));
  }
  return absl::OkStatus();
}

bool IsJudgedVersion(const DocumentRecord& record, const ttl::v1::ExpiredItem& item) {
  return record.ts() == item.ts() && record.has_ttl() == item.has_ttl() &&
         record.ttl() == item.ttl() && record.has_expire_at() == item.has_expire_at() &&
         record.expire_at() == item.expire_at() &&
         (item.etag().empty() || item.etag() == std::to_string(record.sequence()));
}

ttl::v1::Item ToItem(const DocumentRecord& record) {
  ttl::v1::Item item;
  item.set_ts(record.ts());
  if (record.has_ttl()) item.set_ttl(record.ttl());
  if (record.has_expire_at()) item.set_expire_at(record.expire_at());
  item.set_etag(std::to_string(record.sequence()));
  item.set_sequence(record.sequence());
  item.set_size_bytes(static_cast<int64_t>(record.body().size()));
  return item;
}

ttl::v1::DeleteResult Outcome(ttl::v1::DeleteOutcome outcome) {
  ttl::v1::DeleteResult result;
  result.set_outcome(outcome);
  return result;
}

}  // namespace

ttl::v1::GetStoreInfoResponse PrimaryStore::GetStoreInfo() const {
  ttl::v1::GetStoreInfoResponse response;
  response.set_store_id(table_.store_id());
  *response.mutable_now() = ToProto(clock_());
  response.set_max_batch_items(kMaxBatchItems);
  response.add_capabilities(ttl::v1::STORE_CAPABILITY_ETAG);
  response.add_capabilities(ttl::v1::STORE_CAPABILITY_SCAN);
  response.add_capabilities(ttl::v1::STORE_CAPABILITY_EXPIRE_AT);
  return response;
}

absl::StatusOr<ttl::v1::DeleteItemsResponse> PrimaryStore::DeleteItems(
    const ttl::v1::DeleteItemsRequest& request) {
  if (auto status = Validate(request); !status.ok()) return status;
  // Another store may have been at this address before.
  if (!request.store_id().empty() && request.store_id() != table_.store_id()) {
    return absl::FailedPreconditionError(
        absl::StrCat("store_id is \"", absl::CHexEscape(request.store_id()), "\": this store is \"",
                     absl::CHexEscape(table_.store_id()), "\""));
  }
  std::vector<std::string> keys;
  for (const ttl::v1::ExpiredItem& item : request.items()) {
    keys.push_back(EncodeKey({request.container(), item.partition_key(), item.id()}));
  }
  // Held until the batch is written, so that no document is rewritten between comparison and
  // deletion.
  const auto lock = table_.locks().Lock(keys);
  // Read after the locks were acquired, which may have taken time.
  const absl::Time now = clock_();
  const absl::Time not_after = FromProto(request.not_after());

  ttl::v1::DeleteItemsResponse response;
  std::vector<DocumentKey> doomed;
  absl::flat_hash_set<std::string> seen;  // a key may occur twice
  for (int i = 0; i < request.items_size(); ++i) {
    const ttl::v1::ExpiredItem& item = request.items(i);
    const DocumentKey key{request.container(), item.partition_key(), item.id()};
    ttl::v1::DeleteResult& result = *response.add_results();
    result = Judge(key, item, now, not_after);
    if (result.outcome() != ttl::v1::DELETE_OUTCOME_DELETED) continue;
    if (seen.insert(keys[i]).second) {
      doomed.push_back(key);
    } else {
      result = Outcome(ttl::v1::DELETE_OUTCOME_NOT_FOUND);
    }
  }
  auto status = table_.CommitExpired(request.container(), doomed, now);
  if (!status.ok()) return status;
  spdlog::info("expired-delete: container=\"{}\" deleted={} of={} policy_revision={}",
               absl::CHexEscape(request.container()), doomed.size(), request.items_size(),
               request.policy_revision());
  *response.mutable_store_now() = ToProto(clock_());
  const auto deleted = static_cast<double>(doomed.size());
  response.set_request_charge(kWriteUnits * deleted +
                              kReadUnits * (request.items_size() - deleted));
  return response;
}

absl::StatusOr<ttl::v1::ScanItemsResponse> PrimaryStore::ScanItems(const std::string& container,
                                                                   const std::string& page_token,
                                                                   int limit) const {
  const std::string prefix = ContainerPrefix(container);
  if (!page_token.empty() && !absl::StartsWith(page_token, prefix)) {
    return absl::InvalidArgumentError("page_token is not of this container");
  }
  if (limit < 1) return absl::InvalidArgumentError("max_items must be 1 or more");
  const auto page = table_.Scan(prefix, page_token, std::min(limit, kMaxScanItems));
  if (!page.ok()) return page.status();
  ttl::v1::ScanItemsResponse response;
  for (const auto& [key, record] : page->documents) {
    ttl::v1::Item& item = *response.add_items();
    item = ToItem(record);
    item.set_partition_key(key.partition_key);
    item.set_id(key.id);
  }
  response.set_next_page_token(page->next);
  response.set_estimated_items(table_.CountsOf(container).stored);
  return response;
}

ttl::v1::DeleteResult PrimaryStore::Judge(const DocumentKey& key, const ttl::v1::ExpiredItem& item,
                                          absl::Time now, absl::Time not_after) const {
  const auto record = table_.Get(key);
  if (!record.ok()) {
    auto result = Outcome(ttl::v1::DELETE_OUTCOME_FAILED);
    result.set_reason("the document cannot be read");
    return result;
  }
  if (!*record) return Outcome(ttl::v1::DELETE_OUTCOME_NOT_FOUND);
  if (!IsJudgedVersion(**record, item)) {
    auto result = Outcome(ttl::v1::DELETE_OUTCOME_MODIFIED);
    *result.mutable_current() = ToItem(**record);
    return result;
  }
  // Without an etag, a rewrite within the second of ts looks like the judged version. It has the
  // same ts, so deleting it is safe once our clock says that it is expired.
  if (now < absl::FromUnixSeconds(item.expire_time())) {
    return Outcome(ttl::v1::DELETE_OUTCOME_NOT_EXPIRED);
  }
  return Outcome(now < not_after ? ttl::v1::DELETE_OUTCOME_DELETED
                                 : ttl::v1::DELETE_OUTCOME_THROTTLED);
}

}  // namespace documentstore
