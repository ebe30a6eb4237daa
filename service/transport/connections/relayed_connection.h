#ifndef TTL_SERVICE_TRANSPORT_CONNECTIONS_RELAYED_CONNECTION_H_
#define TTL_SERVICE_TRANSPORT_CONNECTIONS_RELAYED_CONNECTION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "service/transport/connections/client_connection.h"
#include "service/transport/connections/fd.h"
#include "service/transport/connections/frame_guard.h"

namespace ttl {

// Relays bytes between a client's socket and one end of a socket pair, whose other end the server
// has. A FrameGuard inspects what the client sends before the server receives it. Bytes that one
// side does not accept are kept, at most the size of `buffer`, and nothing more is read from the
// other side until they are sent.
class RelayedConnection final : public ClientConnection {
 public:
  // Both descriptors are non-blocking. They are registered with `epoll` with the data 2 * `id` for
  // the client's side and 2 * `id` + 1 for the server's. `buffer` is scratch memory shared by all
  // connections of the thread. `epoll`, `buffer` and `limits` must outlive this.
  RelayedConnection(Fd client, Fd server, const FrameLimits& limits, absl::Span<char> buffer,
                    int epoll, uint64_t id);

  Progress Proceed(Side side, uint32_t events, int64_t second) override;
  Progress Review(int64_t second) override;
  void HangUp() override;

 private:
  // One side, and the bytes it has not accepted yet.
  struct End {
    Fd fd;
    Side side;
    std::string pending = {};
    bool has_ended = false;  // will send nothing more
    bool is_gone = false;    // accepts nothing more
  };

  enum class Passed : uint8_t { kAll, kPart, kUntilBlocked };

  Passed Pass(End& from, End& to, bool may_stop_early, int64_t second);
  bool Send(End& to, absl::string_view bytes);
  bool SendPending(End& to);
  void Note(const End& from, absl::string_view bytes, int64_t second);
  void Watch(const End& end, int operation, uint32_t events) const;
  Progress Now(bool has_more) const;

  const absl::Span<char> buffer_;
  const int epoll_;
  const uint64_t id_;
  FrameGuard guard_;
  End client_;
  End server_;
  std::optional<CloseReason> offence_;
  std::optional<int64_t> server_ended_at_;
};

}  // namespace ttl

#endif  // TTL_SERVICE_TRANSPORT_CONNECTIONS_RELAYED_CONNECTION_H_
