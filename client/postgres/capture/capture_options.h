#ifndef TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_OPTIONS_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_OPTIONS_H_

#include "absl/time/time.h"

namespace ttl::postgres {

// How often a capture does what, and in which portions.
struct CaptureOptions {
  // Rows of a table read by one query.
  int page_rows = 2000;
  // Between two looks at the snapshots of the database.
  absl::Duration snapshot_interval = absl::Seconds(1);
  // Between two looks at the slot, at the partitions and at the names of the tables.
  absl::Duration catalog_interval = absl::Seconds(3);
  // Least time between two notes in the database of how far a scan is.
  absl::Duration progress_interval = absl::Seconds(1);
  // After an error; each pause is twice the one before, up to the longest.
  absl::Duration first_pause = absl::Milliseconds(100);
  absl::Duration longest_pause = absl::Seconds(5);
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_OPTIONS_H_
