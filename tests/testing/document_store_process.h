#ifndef TTL_TESTS_TESTING_DOCUMENT_STORE_PROCESS_H_
#define TTL_TESTS_TESTING_DOCUMENT_STORE_PROCESS_H_

#include <map>
#include <string>
#include <vector>

#include "tests/testing/server_process.h"

namespace ttl {

// Options of a document store process.
struct DocumentStoreProcessOptions {
  // An existing directory (of a TempDir) for socket, data and log.
  std::string dir;
  // Distinguishes several stores in one directory: the socket is NAME.sock, the
  // data directory NAME.data, the log NAME.log.
  std::string name = "store";
  // Value of --sidecar.
  std::string sidecar_address;
  // Further flags.
  std::vector<std::string> flags;
  std::map<std::string, std::string> env;
  // As in SubprocessOptions.
  int error_fd = -1;
};

// The real example store on a Unix socket. Ready when it answers GetStoreInfo.
class DocumentStoreProcess : public ServerProcess {
 public:
  explicit DocumentStoreProcess(const DocumentStoreProcessOptions& options);

  const std::string& data_dir() const { return data_dir_; }

 private:
  const std::string data_dir_;
};

}  // namespace ttl

#endif  // TTL_TESTS_TESTING_DOCUMENT_STORE_PROCESS_H_
