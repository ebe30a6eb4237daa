// The environment may name a proxy for the web: it is not for what is between a sidecar, its
// store and its clients.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/testing/sidecar_process.h"
#include "tests/testing/temp_dir.h"
#include "ttl/client_channel.h"

namespace ttl {
namespace {

// A port on which somebody may or may not come.
class Door {
 public:
  Door() {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(socket_, any, size), 0);
    EXPECT_EQ(listen(socket_, 16), 0);
    EXPECT_EQ(getsockname(socket_, any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Door() { close(socket_); }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

  bool SomebodyComes(int milliseconds) const {
    pollfd waiting = {.fd = socket_, .events = POLLIN, .revents = 0};
    return poll(&waiting, 1, milliseconds) == 1;
  }

 private:
  const int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
};

class HttpProxyTest : public testing::Test {
 protected:
  // Who goes by the proxy comes there first, and nowhere else.
  void ExpectDirect() const {
    EXPECT_TRUE(meant_.SomebodyComes(20'000));
    EXPECT_FALSE(proxy_.SomebodyComes(0));
  }

  const Door meant_;
  const Door proxy_;
  const std::string proxy_url_ = absl::StrCat("http://", proxy_.address());
};

TEST_F(HttpProxyTest, ASidecarConnectsToItsStore) {
  const TempDir dir;
  SidecarProcessOptions options;
  options.dir = dir.path();
  options.store_address = meant_.address();
  options.flags = {"--insecure-store"};
  options.env = {{"http_proxy", proxy_url_}, {"no_proxy", ""}};
  SidecarProcess sidecar(options);
  const absl::Status started = sidecar.Start();
  ASSERT_TRUE(started.ok()) << started;
  ExpectDirect();
}

TEST_F(HttpProxyTest, AClientConnectsToItsSidecar) {
  setenv("http_proxy", proxy_url_.c_str(), 1);
  setenv("no_proxy", "", 1);
  TtlClientOptions options;
  options.address = meant_.address();
  const auto channel = NewClientChannel(options);
  channel->GetState(true);
  ExpectDirect();
}

}  // namespace
}  // namespace ttl
