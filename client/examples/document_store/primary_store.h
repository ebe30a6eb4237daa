#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_PRIMARY_STORE_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_PRIMARY_STORE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/examples/document_store/document_engine.h"
#include "client/examples/document_store/document_table.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace documentstore {

// What the sidecar calls: PrimaryStoreService without the transport.
// Thread-safe.
class PrimaryStore {
 public:
  static constexpr int kMaxBatchItems = 1000;
  static constexpr int kMaxScanItems = 1000;  // in one message

  // `table` must outlive this; `clock` is the one that stamps ts.
  PrimaryStore(DocumentTable& table, Clock clock) : table_(table), clock_(std::move(clock)) {}

  ttl::v1::GetStoreInfoResponse GetStoreInfo() const;

  // Deletes those documents that are still the version that was judged and
  // that are expired by our own clock too. An error leaves the fate of the
  // batch open.
  absl::StatusOr<ttl::v1::DeleteItemsResponse> DeleteItems(
      const ttl::v1::DeleteItemsRequest& request);

  // One message of ScanItems: the documents at and after `page_token`, at most `limit`
  // and kMaxScanItems. The token is the key of the next document, so that it stays good
  // whatever is written or deleted meanwhile.
  absl::StatusOr<ttl::v1::ScanItemsResponse> ScanItems(const std::string& container,
                                                       const std::string& page_token,
                                                       int limit) const;

 private:
  // DELETED means that the document may be deleted. The caller holds its lock.
  ttl::v1::DeleteResult Judge(const DocumentKey& key, const ttl::v1::ExpiredItem& item,
                              absl::Time now, absl::Time not_after) const;

  DocumentTable& table_;
  const Clock clock_;
};

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_PRIMARY_STORE_H_
