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

// A connection whose bytes pass through here: between the client's socket and one end of a
// socket pair, of which the server has the other. A FrameGuard looks at what the client sends
// before the server gets it. What one side does not take is kept, at most as much as `buffer`
// holds, and nothing more is read from the other meanwhile.
class RelayedConnection final : public ClientConnection {
 public:
  // Neither descriptor blocks. `epoll` gives back `id` times two for the client's side, and one
  // more for the server's. `buffer` is shared by all connections of a thread. `epoll`, `buffer`
  // and `limits` must outlive this.
  RelayedConnection(Fd client, Fd server, const FrameLimits& limits, absl::Span<char> buffer,
                    int epoll, uint64_t id);

  Progress Proceed(Side side, uint32_t events, int64_t second) override;
  Progress Review(int64_t second) override;
  void HangUp() override;

 private:
  // One side, and what it has not taken yet.
  struct End {
    Fd fd;
    Side side;
    std::string pending = {};
    bool has_ended = false;  // sends nothing more
    bool is_gone = false;    // takes nothing more
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
