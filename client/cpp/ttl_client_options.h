#ifndef TTL_CLIENT_CPP_TTL_CLIENT_OPTIONS_H_
#define TTL_CLIENT_CPP_TTL_CLIENT_OPTIONS_H_

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "grpcpp/security/credentials.h"

namespace ttl {

// How a TtlClient connects and how long it waits. The defaults suit a sidecar
// on the same machine.
struct TtlClientOptions {
  // gRPC address of the sidecar: unix:/path/to/socket or host:port.
  std::string address = "unix:/run/ttl-sidecar/sidecar.sock";

  // How the channel is secured (see tls_credentials.h); null means not at all, which on a
  // Unix socket leaves the protection to the mode of the socket.
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;

  // With TLS, the name that the sidecar's certificate must have; empty means the host
  // of `address`.
  std::string tls_server_name = "";

  // Whether calls wait, up to their deadlines, for a sidecar that is away or restarts. Off,
  // they are UNAVAILABLE after at most half a second: for tools that somebody waits for.
  bool wait_for_sidecar = true;

  // Longest time for a visibility check or a look-up of one item, retries
  // included. Checks lie in the path of the store's own reads, so this is short.
  absl::Duration check_deadline = absl::Seconds(1);

  // Longest time for a report of writes or deletes, retries included. A report
  // waits for a disk sync that it shares with others.
  absl::Duration report_deadline = absl::Seconds(5);

  // Longest time for everything else: lists, status, containers, pauses. Some
  // of these wait for deletes on their way to the primary store, so this must
  // be longer than the sidecar's own deadline for a delete (5 s by default).
  absl::Duration admin_deadline = absl::Seconds(15);

  // Whether checks of single items, which threads ask at the same time, share the
  // messages of one stream. With many threads that is several times the rate of a call
  // for each (tests/bench/client_checks.h), and otherwise the same. A sidecar that has no
  // streams gets a call for each.
  bool share_checks = true;

  // Whether what is given to AddUsage() is reported.
  bool report_usage = true;
};

}  // namespace ttl

#endif  // TTL_CLIENT_CPP_TTL_CLIENT_OPTIONS_H_
