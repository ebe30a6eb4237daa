#ifndef TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_REPORTS_REPORT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "ttl/v1/item.pb.h"

namespace ttl::postgres {

// What the sidecar is to know of one key.
struct Report {
  // The row as it is; of a row that is gone only the key and the sequence. Always with a
  // sequence.
  v1::Item item;
  bool is_gone = false;
  // The row was read rather than written just now; see TrackItemsRequest.adopted.
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
