#ifndef TTL_SERVICE_SERVER_CONFIG_LISTEN_OPTIONS_H_
#define TTL_SERVICE_SERVER_CONFIG_LISTEN_OPTIONS_H_

#include <sys/types.h>

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/transport/access/role.h"

namespace ttl {

// The value of --listen-socket.
struct ListenSocket {
  std::string path;
  std::optional<mode_t> mode = {};        // absent: --socket-mode
  std::optional<std::string> group = {};  // absent: --socket-group
  Roles roles = Roles::All();             // of every client

  friend bool operator==(const ListenSocket&, const ListenSocket&) = default;
};

// The value of --listen-tcp.
struct ListenTcp {
  std::string host_port;
  Roles roles = {};  // of every client, in addition to those of its certificate

  friend bool operator==(const ListenTcp&, const ListenTcp&) = default;
};

// Parse the value of a flag. INVALID_ARGUMENT says what is allowed.
//
// "PATH[,mode=OCTAL][,group=GROUP][,roles=ROLE+ROLE]". A comma that no option follows
// is part of the path.
absl::StatusOr<ListenSocket> ParseListenSocket(absl::string_view value);
// "HOST:PORT[,roles=ROLE+ROLE]"
absl::StatusOr<ListenTcp> ParseListenTcp(absl::string_view value);
// "HOST:PORT"
absl::StatusOr<std::string> ParseHostPort(absl::string_view value);
// Three octal digits, with or without a leading zero.
absl::StatusOr<mode_t> ParseMode(absl::string_view value);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_LISTEN_OPTIONS_H_
