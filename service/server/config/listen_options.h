#ifndef TTL_SERVICE_SERVER_CONFIG_LISTEN_OPTIONS_H_
#define TTL_SERVICE_SERVER_CONFIG_LISTEN_OPTIONS_H_

#include <sys/types.h>

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/transport/access/role.h"

namespace ttl {

// A Unix socket to listen on, as a flag gives it.
struct ListenSocket {
  std::string path;
  std::optional<mode_t> mode = {};        // absent: that of all sockets
  std::optional<std::string> group = {};  // absent: that of all sockets
  Roles roles = Roles::All();             // of everyone who can connect

  friend bool operator==(const ListenSocket&, const ListenSocket&) = default;
};

// The same of TCP.
struct ListenTcp {
  std::string host_port;
  Roles roles = {};  // of everyone who can connect; others have them by their certificates

  friend bool operator==(const ListenTcp&, const ListenTcp&) = default;
};

// Each reads the value of a flag. INVALID_ARGUMENT says what would be right.
//
// "PATH[,mode=OCTAL][,group=GROUP][,roles=ROLE+ROLE]". A comma that no option follows
// is part of the path.
absl::StatusOr<ListenSocket> ParseListenSocket(absl::string_view value);
// "HOST:PORT[,roles=ROLE+ROLE]"
absl::StatusOr<ListenTcp> ParseListenTcp(absl::string_view value);
// "HOST:PORT"
absl::StatusOr<std::string> ParseHostPort(absl::string_view value);
// Three octal digits, with or without a zero in front.
absl::StatusOr<mode_t> ParseMode(absl::string_view value);

}  // namespace ttl

#endif  // TTL_SERVICE_SERVER_CONFIG_LISTEN_OPTIONS_H_
