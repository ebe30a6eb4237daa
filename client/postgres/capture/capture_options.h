#ifndef TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_OPTIONS_H_
#define TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_OPTIONS_H_

#include "absl/time/time.h"

namespace ttl::postgres {

// Intervals and batch sizes of a capture.
struct CaptureOptions {
  // Maximum rows of a table that one query reads.
  int page_rows = 2000;
  // Interval between observations of the database's snapshots.
  absl::Duration snapshot_interval = absl::Seconds(1);
  // Interval between checks of the slot, the partitions and the table names.
  absl::Duration catalog_interval = absl::Seconds(3);
  // Minimum interval between writes of a scan's progress to the database.
  absl::Duration progress_interval = absl::Seconds(1);
  // Pause after an error; it doubles after each further error, up to longest_pause.
  absl::Duration first_pause = absl::Milliseconds(100);
  absl::Duration longest_pause = absl::Seconds(5);
};

}  // namespace ttl::postgres

#endif  // TTL_CLIENT_POSTGRES_CAPTURE_CAPTURE_OPTIONS_H_
