#ifndef TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_BATCH_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_BATCH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/postgres/capture/reports/report.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl::postgres {

// Reports of one container that are sent together. Only the latest state of each key is kept, so
// the reports may be sent in any order: first the deletes, then the writes.
//
// Pure. Not thread-safe.
class ReportBatch {
 public:
  static constexpr size_t kMaxReports = 1000;

  explicit ReportBatch(std::string container, size_t max_bytes = 256 << 10)
      : container_(std::move(container)), max_bytes_(max_bytes) {}

  // Returns false and leaves `report` unchanged if the batch must be sent first, because the order
  // of the two reports of a key matters. An empty batch accepts every report.
  bool Add(Report&& report);

  bool empty() const { return reports_.empty(); }
  bool IsFull() const { return reports_.size() >= kMaxReports || bytes_ >= max_bytes_; }

  // Empties the batch and returns it as up to three messages of StreamTrackItems; none if it is
  // empty.
  std::vector<v1::StreamTrackItemsRequest> Take();

 private:
  const std::string container_;
  const size_t max_bytes_;
  std::vector<Report> reports_;
  absl::flat_hash_map<std::string, size_t> places_;  // index in reports_, by key
  size_t bytes_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_BATCH_H_
