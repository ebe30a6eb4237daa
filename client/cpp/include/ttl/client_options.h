#ifndef TTL_CLIENT_OPTIONS_H_
#define TTL_CLIENT_OPTIONS_H_

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

  // Credentials of the channel (see tls_credentials.h); null means plain text, where on a Unix
  // socket the file mode protects the connection.
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;

  // With TLS, the name expected in the sidecar's certificate; empty means the host of `address`.
  std::string tls_server_name = "";

  // Whether calls wait, up to their deadlines, for a sidecar that is down or restarts. If not, they
  // return UNAVAILABLE after at most half a second, which suits interactive tools.
  bool wait_for_sidecar = true;

  // Deadline of a visibility check or a look-up of one item, including retries. Short, because
  // checks are in the path of the store's reads.
  absl::Duration check_deadline = absl::Seconds(1);

  // Deadline of a report of writes or deletes, including retries. A report waits for a disk sync,
  // which it shares with others.
  absl::Duration report_deadline = absl::Seconds(5);

  // Deadline of all other calls: lists, status, containers, pauses. Some of them wait for deletes
  // in flight, so this must be longer than the sidecar's --delete-deadline-seconds (5 s by
  // default).
  absl::Duration admin_deadline = absl::Seconds(15);

  // Whether concurrent calls of CheckItem() share the messages of one stream. With many threads
  // this is several times as fast as unary calls, otherwise as fast. A sidecar without streams gets
  // unary calls.
  bool share_checks = true;

  // Whether AddUsage() has an effect.
  bool report_usage = true;
};

}  // namespace ttl

#endif  // TTL_CLIENT_OPTIONS_H_
