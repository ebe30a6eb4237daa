#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_REPORTER_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_REPORTER_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/examples/document_store/document_table.h"
#include "client/examples/document_store/sidecar_client.h"

namespace documentstore {

// Reports every change to the sidecar, at least once. A change that could not be reported keeps its
// mark in the outbox, which a thread reports again, at growing intervals, until it is empty.
// Thread-safe.
class Reporter {
 public:
  // `table` and `sidecar` must outlive the reporter.
  Reporter(DocumentTable& table, SidecarClient& sidecar, absl::Duration retry_interval);
  ~Reporter();

  // Reports committed changes of one container and removes their marks. If it
  // fails, the marks stay and are reported later; the status is the sidecar's.
  absl::Status Report(const std::string& container, const std::vector<Change>& changes);

  // Reports all marked changes in the order of their sequences. Changes that the sidecar refuses,
  // because of an unknown container or an invalid item, keep their marks and do not block later
  // ones.
  absl::Status ReportOutbox();

 private:
  absl::Status Send(const std::string& container, const std::vector<Change>& changes);
  absl::Status UntrackIfGone(const std::string& container, const std::vector<Change>& tracked);
  absl::Status ReportOneByOne(const std::string& container, const std::vector<Change>& changes);
  void RetryUntilStopped();

  DocumentTable& table_;
  SidecarClient& sidecar_;
  const absl::Duration retry_interval_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool behind_ = false;  // guarded by mutex_; whether the outbox must be reported
  bool stop_ = false;    // guarded by mutex_
  std::thread retry_thread_;
};

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_REPORTER_H_
