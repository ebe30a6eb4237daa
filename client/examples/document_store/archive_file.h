#ifndef TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_ARCHIVE_FILE_H_
#define TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_ARCHIVE_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace documentstore {

// A file of lines to which lines are appended, each batch durable when Append() returns OK. Used by
// one process at a time. Not thread-safe.
class ArchiveFile {
 public:
  // Opens or creates the file. A line at its end that is not complete, because the process died
  // while it wrote it, is removed: nobody has been told that it is there.
  static absl::StatusOr<std::unique_ptr<ArchiveFile>> Open(const std::string& path);
  ~ArchiveFile();
  ArchiveFile(const ArchiveFile&) = delete;
  ArchiveFile& operator=(const ArchiveFile&) = delete;

  // Appends `lines`, each of which ends with a newline. After an error the file may end with some
  // of them, and must be opened again.
  absl::Status Append(const std::string& lines);

 private:
  ArchiveFile(std::string path, int file);

  absl::Status RemoveTornLine();
  absl::Status Write(const std::string& lines);
  absl::Status Error(int error) const;

  const std::string path_;
  const int file_;
};

}  // namespace documentstore

#endif  // TTL_CLIENT_EXAMPLES_DOCUMENT_STORE_ARCHIVE_FILE_H_
