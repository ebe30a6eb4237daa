// Creates a container, reports an item that expired long ago, and asks whether it is visible.
//
//   ttl-client-example ADDRESS        for example unix:/run/ttl-sidecar/sidecar.sock
//
// Prints "expired" and returns 0, or prints the status of the call that failed and returns 1.
#include <iostream>

#include "absl/status/status.h"
#include "ttl/client.h"
#include "ttl/container_client.h"

namespace {

constexpr char kContainer[] = "example/carts";

absl::Status CreateContainer(ttl::TtlClient& client) {
  ttl::v1::Container container;
  container.set_id(kContainer);
  container.set_default_ttl(3600);
  const absl::Status created = client.containers().Create(container).status();
  return absl::IsAlreadyExists(created) ? absl::OkStatus() : created;
}

absl::Status TrackOldItem(ttl::TtlClient& client) {
  ttl::v1::Item item;
  item.set_id("cart-17");
  item.set_ts(1767225600);  // 2026-01-01
  item.set_ttl(60);
  item.set_sequence(1);
  return client.TrackItem(kContainer, item).status();
}

absl::Status Run(ttl::TtlClient& client) {
  if (absl::Status created = CreateContainer(client); !created.ok()) return created;
  if (absl::Status tracked = TrackOldItem(client); !tracked.ok()) return tracked;
  ttl::v1::VisibilityCheck check;
  check.set_id("cart-17");
  const auto answer = client.CheckItem(kContainer, check);
  if (!answer.ok()) return answer.status();
  std::cout << (answer->expired() ? "expired" : "visible") << "\n";
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " ADDRESS\n";
    return 2;
  }
  ttl::TtlClientOptions options;
  options.address = argv[1];
  options.wait_for_sidecar = false;
  ttl::TtlClient client(options);
  const absl::Status status = Run(client);
  // Without the details, which are for programs; see ttl/error_details.h.
  if (!status.ok())
    std::cerr << status.ToString(absl::StatusToStringMode::kWithNoExtraData) << "\n";
  return status.ok() ? 0 : 1;
}
