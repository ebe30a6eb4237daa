#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/base/status_macros.h"
#include "tests/bench/speed/bench_processes.h"
#include "tests/bench/speed/rows.h"
#include "tests/bench/speed/sidecar_setup.h"
#include "tests/testing/certificates.h"
#include "tests/testing/temp_dir.h"

namespace ttl::bench {
namespace {

constexpr uint64_t kTlsHotItems = 20'000;
constexpr LoadShape kOneKey{.batch = 1, .in_flight = 64};
constexpr char kServerName[] = "sidecar.bench";
// A common name, which is looked up last: the other names in the certificate cost their part.
constexpr char kClientName[] = "bench-store";

// A sidecar that takes the same callers by TLS on two addresses: on the first everyone has
// the role of a store, on the second those whose certificate has a name that stands for it.
class TlsSidecar {
 public:
  absl::Status Start() {
    WriteFiles();
    TTL_RETURN_IF_ERROR(sidecar_.Start());
    if (sidecar_.TcpPorts().size() != 2) {
      return absl::InternalError("the sidecar does not say where it listens");
    }
    return LoadItems(sidecar_.channel(), kTlsHotItems);
  }

  Server OverSocket() { return ServerOf(sidecar_); }
  Server ByRolesOfAddress() { return ServerAt(sidecar_.TcpPorts()[0]); }
  Server ByNamesInCertificate() { return ServerAt(sidecar_.TcpPorts()[1]); }

 private:
  void WriteFiles() const {
    const TestIdentity server = ca_.Issue({.dns = {kServerName}});
    ReplaceFile(directory_.File("ca.crt"), ca_.cert());
    ReplaceFile(directory_.File("server.crt"), server.cert);
    ReplaceFile(directory_.File("server.key"), server.key);
    ReplaceFile(directory_.File("access.yaml"),
                absl::StrCat("identities:\n  - cn: ", kClientName, "\n    roles: [store]\n"));
  }

  std::vector<std::string> Flags() const {
    return {"--listen-tcp=127.0.0.1:0,roles=store",
            "--listen-tcp=127.0.0.1:0",
            absl::StrCat("--tls-cert-file=", directory_.File("server.crt")),
            absl::StrCat("--tls-key-file=", directory_.File("server.key")),
            absl::StrCat("--tls-client-ca-file=", directory_.File("ca.crt")),
            absl::StrCat("--access-file=", directory_.File("access.yaml"))};
  }

  Server ServerAt(int port) {
    const TestIdentity client = ca_.Issue({.common_name = kClientName,
                                           .dns = {"store-0.bench", "store.bench"},
                                           .uri = {"spiffe://bench/ns/bench/sa/store"}});
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetSslTargetNameOverride(kServerName);
    const auto credentials = grpc::SslCredentials({ca_.cert(), client.key, client.cert});
    return {grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port), credentials, arguments),
            sidecar_.process()->pid(), /*is_echo=*/false};
  }

  const TempDir directory_;
  const TestCa ca_{"bench"};
  SidecarProcess sidecar_{SidecarIn(directory_.path(), Flags())};
};

}  // namespace

absl::StatusOr<Row> CheckOneByTls(const RowOptions& options) {
  TlsSidecar sidecar;
  TTL_RETURN_IF_ERROR(sidecar.Start());
  Contest contest;
  contest.name = "check-1-tls";
  contest.work = "CheckVisibility, 1 key, 64 in flight, TLS, role by a name in the certificate";
  contest.unit = "calls/s";
  contest.ours = CheckLoad(sidecar.ByNamesInCertificate(), kOneKey, kTlsHotItems);
  contest.opponents = {{"TLS, role of the address",
                        CheckLoad(sidecar.ByRolesOfAddress(), kOneKey, kTlsHotItems),
                        {}},
                       {"Unix socket", CheckLoad(sidecar.OverSocket(), kOneKey, kTlsHotItems), {}}};
  return Hold(contest, options.rounds);
}

}  // namespace ttl::bench
