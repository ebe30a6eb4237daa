#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_PRIMARY_STORE_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_PRIMARY_STORE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/examples/document_store/document_engine.h"
#include "client/examples/document_store/document_table.h"
#include "ttl/primary_store.h"

namespace documentstore {

// What the sidecar asks of the documents. Deletes cost what request_prices.h says. Thread-safe.
class PrimaryStore final : public ttl::PrimaryStore {
 public:
  // `table` must outlive this. `clock` must be the clock that stamps ts.
  PrimaryStore(DocumentTable& table, Clock clock) : table_(table), clock_(std::move(clock)) {}

  std::string store_id() const override { return table_.store_id(); }
  ttl::StoreFeatures features() const override;
  absl::Time Now() const override { return clock_(); }

  absl::Status WithLock(absl::string_view container, absl::Span<const ttl::StoredKey> keys,
                        absl::FunctionRef<void()> work) override;
  absl::StatusOr<std::optional<ttl::v1::Item>> Read(absl::string_view container,
                                                    const ttl::StoredKey& key) override;
  absl::Status Delete(absl::string_view container, absl::Span<const ttl::StoredKey> keys) override;
  absl::StatusOr<std::vector<ttl::v1::Item>> Scan(absl::string_view container,
                                                  const std::optional<ttl::StoredKey>& after,
                                                  int limit) override;
  std::optional<int64_t> EstimatedItems(absl::string_view container) const override;
  std::optional<double> RequestCharge(int deleted, int kept) const override;

 private:
  DocumentTable& table_;
  const Clock clock_;
};

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_PRIMARY_STORE_H_
