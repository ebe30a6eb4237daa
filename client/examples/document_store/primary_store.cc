#include "client/examples/document_store/primary_store.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "client/examples/document_store/document_key.h"
#include "client/examples/document_store/request_prices.h"
#include "spdlog/spdlog.h"

namespace documentstore {
namespace {

DocumentKey KeyOf(absl::string_view container, const ttl::StoredKey& key) {
  return {std::string(container), key.partition_key, key.id};
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

ttl::v1::Item ToItem(const DocumentKey& key, const DocumentRecord& record) {
  ttl::v1::Item item = ToItem(record);
  item.set_partition_key(key.partition_key);
  item.set_id(key.id);
  return item;
}

}  // namespace

ttl::StoreFeatures PrimaryStore::features() const {
  ttl::StoreFeatures features;
  features.scans = true;
  features.knows_expire_at = true;
  return features;
}

absl::Status PrimaryStore::WithLock(absl::string_view container,
                                    absl::Span<const ttl::StoredKey> keys,
                                    absl::FunctionRef<void()> work) {
  std::vector<std::string> encoded;
  for (const ttl::StoredKey& key : keys) encoded.push_back(EncodeKey(KeyOf(container, key)));
  const auto lock = table_.locks().Lock(encoded);
  work();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<ttl::v1::Item>> PrimaryStore::Read(absl::string_view container,
                                                                const ttl::StoredKey& key) {
  const auto record = table_.Get(KeyOf(container, key));
  // The error itself names places in files, which would make every failure another one.
  if (!record.ok()) return absl::DataLossError("its record is damaged or unreadable");
  if (!*record) return std::optional<ttl::v1::Item>();
  return std::optional<ttl::v1::Item>(ToItem(**record));
}

absl::Status PrimaryStore::Delete(absl::string_view container,
                                  absl::Span<const ttl::StoredKey> keys) {
  std::vector<DocumentKey> documents;
  for (const ttl::StoredKey& key : keys) documents.push_back(KeyOf(container, key));
  absl::Status status = table_.CommitExpired(std::string(container), documents, clock_());
  if (!status.ok()) return status;
  spdlog::info("expired-delete: container=\"{}\" deleted={}", absl::CHexEscape(container),
               documents.size());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ttl::v1::Item>> PrimaryStore::Scan(
    absl::string_view container, const std::optional<ttl::StoredKey>& after, int limit) {
  const std::string prefix = ContainerPrefix(std::string(container));
  // The table starts at a key, and the smallest one behind a key is that with a zero byte more.
  std::string from = after ? EncodeKey(KeyOf(container, *after)) + std::string(1, '\0') : "";
  std::vector<ttl::v1::Item> items;
  do {
    const auto page = table_.Scan(prefix, from, limit - static_cast<int>(items.size()));
    if (!page.ok()) return page.status();
    for (const auto& [key, record] : page->documents) items.push_back(ToItem(key, record));
    from = page->next;
  } while (!from.empty() && items.size() < static_cast<size_t>(limit));
  return items;
}

std::optional<int64_t> PrimaryStore::EstimatedItems(absl::string_view container) const {
  return table_.CountsOf(std::string(container)).stored;
}

std::optional<double> PrimaryStore::RequestCharge(int deleted, int kept) const {
  return kWriteUnits * deleted + kReadUnits * kept;
}

}  // namespace documentstore
