#ifndef TTL_SERVICE_TRANSPORT_TLS_WATCHED_TLS_FILES_H_
#define TTL_SERVICE_TRANSPORT_TLS_WATCHED_TLS_FILES_H_

#include <optional>
#include <string>
#include <utility>

#include "service/transport/tls/tls_files.h"

namespace ttl {

// TLS files that are read again once they have changed. Files that do not match, as while they are
// being replaced, are ignored: the previous ones stay in use. Not thread-safe.
class WatchedTlsFiles {
 public:
  explicit WatchedTlsFiles(TlsFiles files) : files_(std::move(files)) {}

  const TlsFiles& files() const { return files_; }

  // The contents, if the files have changed since the last call or Forget(); absent if they have
  // not, or if ReadTlsFiles() refuses them. Logs what is loaded and what is refused. Costs a stat()
  // of each file.
  std::optional<TlsMaterial> ReadChanged();

  // Has the next ReadChanged() read the files in any case.
  void Forget() { stamp_.clear(); }

 private:
  const TlsFiles files_;
  std::string stamp_;  // of the files as read last
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_TLS_WATCHED_TLS_FILES_H_
