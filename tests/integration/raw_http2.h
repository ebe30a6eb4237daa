#ifndef TTL_TESTS_INTEGRATION_RAW_HTTP2_H_
#define TTL_TESTS_INTEGRATION_RAW_HTTP2_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ttl {

// An HTTP/2 client on a Unix socket, or in plain text on a port of this host, that sends what it is
// told and nothing else, for what no gRPC client does by itself. Has no calls. Not thread-safe.
class RawHttp2 {
 public:
  // How a connection begins.
  enum class Opening {
    kSettings,  // the preface and an empty SETTINGS frame, as it should
    kNothing,   // with no byte
  };

  // Connects, and begins as told.
  explicit RawHttp2(const std::string& socket_path, Opening opening = Opening::kSettings);
  explicit RawHttp2(int port, Opening opening = Opening::kSettings);
  ~RawHttp2();
  RawHttp2(const RawHttp2&) = delete;
  RawHttp2& operator=(const RawHttp2&) = delete;

  bool is_connected() const { return is_connected_; }

  // Sends bytes as they are. False if the connection is gone, or nobody has read from it
  // for some seconds.
  bool Send(absl::string_view bytes);
  bool SendPing();

  // Reads frames until the answer to a ping. False if the server hangs up, or if none comes
  // within `deadline`.
  bool AwaitPong(absl::Duration deadline);

  // Reads frames for `duration`. Returns the reason of a GOAWAY as soon as there is
  // one, "connection closed" if the server hung up without one, and nothing if
  // all was quiet.
  std::string ReadGoaway(absl::Duration duration);

 private:
  template <typename Name>
  RawHttp2(int fd, const Name& name, Opening opening);

  // Waits until `deadline` for more bytes; how many came, 0 at the end of the connection,
  // nothing if none came.
  std::optional<size_t> ReadMore(absl::Time deadline);

  // Removes the first whole frame from what was read. False if there is none.
  bool TakeFrame(int& type, std::string& payload);

  const int fd_;
  bool is_connected_ = false;
  std::string read_;
};

}  // namespace ttl

#endif  // TTL_TESTS_INTEGRATION_RAW_HTTP2_H_
