#ifndef TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_BATCH_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_BATCH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/postgres/capture/reports/report.h"
#include "ttl/v1/item_service.pb.h"

namespace ttl::postgres {

// Reports of one container that are sent together. Of several of one key only what they come
// to is kept, so the rest may be sent in any order: first the deletes, then the writes.
//
// Pure; for one thread.
class ReportBatch {
 public:
  static constexpr size_t kMaxReports = 1000;

  explicit ReportBatch(std::string container, size_t max_bytes = 256 << 10)
      : container_(std::move(container)), max_bytes_(max_bytes) {}

  // False, and `report` stays as it is: what is in the batch has to be sent first, since the
  // order of the two counts. An empty batch takes everything.
  bool Add(Report&& report);

  bool empty() const { return reports_.empty(); }
  bool IsFull() const { return reports_.size() >= kMaxReports || bytes_ >= max_bytes_; }

  // Up to three messages of StreamTrackItems, none if it is empty. It is empty afterwards.
  std::vector<v1::StreamTrackItemsRequest> Take();

 private:
  const std::string container_;
  const size_t max_bytes_;
  std::vector<Report> reports_;
  absl::flat_hash_map<std::string, size_t> places_;  // by key, in reports_
  size_t bytes_ = 0;
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_BATCH_H_
