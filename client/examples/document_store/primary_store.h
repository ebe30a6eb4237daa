#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_PRIMARY_STORE_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_PRIMARY_STORE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/examples/document_store/document_engine.h"
#include "client/examples/document_store/document_table.h"
#include "ttl/v1/primary_store_service.pb.h"

namespace documentstore {

// PrimaryStoreService, which the sidecar calls, without the transport. Thread-safe.
class PrimaryStore {
 public:
  static constexpr int kMaxBatchItems = 1000;
  static constexpr int kMaxScanItems = 1000;  // in one message

  // `table` must outlive this. `clock` must be the clock that stamps ts.
  PrimaryStore(DocumentTable& table, Clock clock) : table_(table), clock_(std::move(clock)) {}

  ttl::v1::GetStoreInfoResponse GetStoreInfo() const;

  // Deletes the documents that still are the judged version and are expired by our own clock too.
  // After an error it is unknown whether the batch was deleted.
  absl::StatusOr<ttl::v1::DeleteItemsResponse> DeleteItems(
      const ttl::v1::DeleteItemsRequest& request);

  // Returns one message of ScanItems: the documents from `page_token` on, at most `limit` and
  // kMaxScanItems. The token is the key of the next document, so that it stays valid whatever is
  // written or deleted meanwhile.
  absl::StatusOr<ttl::v1::ScanItemsResponse> ScanItems(const std::string& container,
                                                       const std::string& page_token,
                                                       int limit) const;

 private:
  // DELETED means that the document may be deleted. REQUIRES: its lock is held.
  ttl::v1::DeleteResult Judge(const DocumentKey& key, const ttl::v1::ExpiredItem& item,
                              absl::Time now, absl::Time not_after) const;

  DocumentTable& table_;
  const Clock clock_;
};

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_PRIMARY_STORE_H_
