#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_ARCHIVER_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_ARCHIVER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/examples/document_store/document_table.h"
#include "ttl/client.h"
#include "ttl/event_watcher.h"
#include "ttl/v1/feed_service.pb.h"

namespace documentstore {

// Appends the documents of a container to a file when they expire, one v1::Document in protobuf
// JSON per line, on a thread of its own. It reads a subscription of the container and acknowledges
// an event when its line is on disk, so a line may come twice after a crash: the same key and etag.
//
// Nothing waits for the archiver: a document that is deleted or overwritten before its turn is
// missing in the file, and the log names it. The delay of the container's deletes has to be longer
// than the archiver may be down or behind.
//
// If the file cannot be written, or the subscription cannot be read, it logs why and ends; it goes
// on behind its last acknowledgement when it is started again.
class Archiver {
 public:
  // Which subscription to read, and where to write.
  struct Target {
    std::string container;
    std::string subscription;
    std::string path;
  };

  // Opens the file for appending. `table` and `client` must outlive the archiver.
  static absl::StatusOr<std::unique_ptr<Archiver>> Start(const DocumentTable& table,
                                                         ttl::TtlClient& client, Target target);
  ~Archiver();
  Archiver(const Archiver&) = delete;
  Archiver& operator=(const Archiver&) = delete;

 private:
  Archiver(const DocumentTable& table, ttl::TtlClient& client, Target target, int file);

  void Take(const ttl::v1::WatchEventsResponse& response);
  // The lines of the documents that the events tell as expired.
  absl::StatusOr<std::string> LinesOf(const ttl::v1::WatchEventsResponse& response) const;
  absl::StatusOr<std::string> LineOf(const ttl::v1::Event& event) const;
  absl::Status Append(const std::string& lines);
  void Acknowledge(const ttl::v1::WatchEventsResponse& response);

  const DocumentTable& table_;
  ttl::TtlClient& client_;
  const Target target_;
  const int file_;
  bool has_failed_ = false;                     // used by the thread of the watcher alone
  std::unique_ptr<ttl::EventWatcher> watcher_;  // last, because its thread uses all of the above
};

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_ARCHIVER_H_
