#ifndef TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "ttl/v1/item.pb.h"

namespace ttl::postgres {

// The state of one key to be reported to the sidecar.
struct Report {
  // The current row; of a row that is gone, only the key and the sequence. The sequence is always
  // set.
  v1::Item item;
  bool is_gone = false;
  // The row was read, not just written; see TrackItemsRequest.adopted.
  bool is_adopted = false;

  static Report Tracked(v1::Item item) { return {std::move(item), false}; }
  static Report Gone(std::string partition_key, std::string id, uint64_t sequence) {
    Report report{{}, true};
    report.item.set_partition_key(std::move(partition_key));
    report.item.set_id(std::move(id));
    report.item.set_sequence(sequence);
    return report;
  }
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_H_
