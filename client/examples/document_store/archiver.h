#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_ARCHIVER_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_ARCHIVER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/examples/document_store/archive_file.h"
#include "client/examples/document_store/document_table.h"
#include "ttl/client.h"
#include "ttl/event_watcher.h"
#include "ttl/v1/feed_service.pb.h"

namespace documentstore {

// Appends the documents of a container to a file when they expire, one v1::Document in protobuf
// JSON per line, on a thread of its own. It reads a subscription of the container and acknowledges
// an event when its line is on disk, so a line may come twice after a crash: the same key and etag.
//
// The subscription has to be a gate, so that the sidecar deletes no document before its line is
// acknowledged; the archiver logs a warning if it is not. A document that its own clients delete or
// overwrite after it has expired and before its turn is missing in the file, and the log names it.
//
// If the file cannot be written, or the subscription cannot be read, it logs why and ends; then
// nothing that expires is deleted until it is started again. It goes on behind its last
// acknowledgement.
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
  // Of an event in the log of the feed.
  struct Position {
    uint64_t epoch = 0;
    uint64_t sequence = 0;
    bool was_refused = false;
  };

  Archiver(const DocumentTable& table, ttl::TtlClient& client, Target target,
           std::unique_ptr<ArchiveFile> file);

  void Take(const ttl::v1::WatchEventsResponse& response);
  // Warns if deletes do not wait for the subscription, once that is known.
  void CheckGate();
  // The lines of the documents that the events tell as expired.
  absl::StatusOr<std::string> LinesOf(const ttl::v1::WatchEventsResponse& response) const;
  absl::StatusOr<std::string> LineOf(const ttl::v1::Event& event) const;
  // Acknowledges what is on disk and not acknowledged yet.
  void Acknowledge();

  const DocumentTable& table_;
  ttl::TtlClient& client_;
  const Target target_;
  // Used by the thread of the watcher alone.
  const std::unique_ptr<ArchiveFile> file_;
  bool has_checked_gate_ = false;
  bool has_failed_ = false;
  std::optional<Position> on_disk_;  // not acknowledged yet

  std::unique_ptr<ttl::EventWatcher> watcher_;  // last, because its thread uses all of the above
};

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_ARCHIVER_H_
