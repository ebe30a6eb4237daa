#include <gmock/gmock.h>
#include <grpc/grpc.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpc/channelz/v1/channelz.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "service/server/sidecar.h"
#include "tests/testing/channel.h"
#include "tests/testing/fake_primary_store.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/wait.h"

namespace ttl {
namespace {

namespace channelz = grpc::channelz::v1;
using channelz::Channelz;

class ChannelzTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { grpc_init(); }

  void Start(bool with_channelz) {
    ServerConfig config;
    config.listen_sockets = {{.path = directory_.File("all.sock")},
                             {.path = directory_.File("reader.sock"), .roles = {Role::kReader}}};
    config.data_dir = directory_.File("data");
    config.store = store_.address();
    config.channelz = with_channelz;
    absl::StatusOr<std::unique_ptr<Sidecar>> sidecar = Sidecar::Start(config);
    ASSERT_TRUE(sidecar.ok()) << sidecar.status();
    sidecar_ = *std::move(sidecar);
    stub_ = Connect("all");
  }

  std::unique_ptr<Channelz::Stub> Connect(const std::string& name) const {
    return Channelz::NewStub(
        NewTestChannel(absl::StrCat("unix:", directory_.File(absl::StrCat(name, ".sock")))));
  }

  template <typename Request, typename Response>
  static grpc::Status Call(Channelz::Stub& stub,
                           grpc::Status (Channelz::Stub::*method)(grpc::ClientContext*,
                                                                  const Request&, Response*),
                           const Request& request, Response& response) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(20)));
    return (stub.*method)(&context, request, &response);
  }

  std::vector<channelz::Server> Servers() {
    channelz::GetServersResponse response;
    const grpc::Status status =
        Call(*stub_, &Channelz::Stub::GetServers, channelz::GetServersRequest(), response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return {response.server().begin(), response.server().end()};
  }

  const TempDir directory_;
  FakePrimaryStore store_{[] { return absl::Now(); }};
  std::unique_ptr<Sidecar> sidecar_;
  std::unique_ptr<Channelz::Stub> stub_;
};

TEST_F(ChannelzTest, UnlessAskedForItIsNotThere) {
  Start(false);
  channelz::GetServersResponse response;
  EXPECT_EQ(Call(*stub_, &Channelz::Stub::GetServers, channelz::GetServersRequest(), response)
                .error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(ChannelzTest, ItIsForAdmins) {
  Start(true);
  channelz::GetServersResponse response;
  EXPECT_EQ(
      Call(*Connect("reader"), &Channelz::Stub::GetServers, channelz::GetServersRequest(), response)
          .error_code(),
      grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(ChannelzTest, ServersTheirConnectionsAndTheCallsOnThemAreShown) {
  Start(true);
  // Those of the sidecar and that of the store, which is in this process too.
  EXPECT_GE(Servers().size(), 3U);
  bool found_this_connection = false;
  for (const channelz::Server& server : Servers()) {
    channelz::GetServerResponse same;
    channelz::GetServerRequest by_id;
    by_id.set_server_id(server.ref().server_id());
    EXPECT_TRUE(Call(*stub_, &Channelz::Stub::GetServer, by_id, same).ok());
    EXPECT_EQ(same.server().ref().server_id(), by_id.server_id());

    channelz::GetServerSocketsRequest of_server;
    of_server.set_server_id(by_id.server_id());
    channelz::GetServerSocketsResponse sockets;
    ASSERT_TRUE(Call(*stub_, &Channelz::Stub::GetServerSockets, of_server, sockets).ok());
    for (const channelz::SocketRef& ref : sockets.socket_ref()) {
      channelz::GetSocketRequest request;
      request.set_socket_id(ref.socket_id());
      channelz::GetSocketResponse socket;
      ASSERT_TRUE(Call(*stub_, &Channelz::Stub::GetSocket, request, socket).ok());
      found_this_connection |= socket.socket().data().messages_received() > 3 &&
                               absl::StrContains(server.listen_socket(0).name(), "all.sock");
    }
  }
  EXPECT_TRUE(found_this_connection);
}

TEST_F(ChannelzTest, TheChannelToTheStoreIsShown) {
  Start(true);
  const auto find = [this] {
    channelz::GetTopChannelsResponse response;
    EXPECT_TRUE(
        Call(*stub_, &Channelz::Stub::GetTopChannels, channelz::GetTopChannelsRequest(), response)
            .ok());
    for (const channelz::Channel& channel : response.channel()) {
      if (channel.data().target() != store_.address() || channel.subchannel_ref().empty()) continue;
      channelz::GetChannelRequest by_id;
      by_id.set_channel_id(channel.ref().channel_id());
      channelz::GetChannelResponse same;
      channelz::GetSubchannelRequest part_id;
      part_id.set_subchannel_id(channel.subchannel_ref(0).subchannel_id());
      channelz::GetSubchannelResponse part;
      return Call(*stub_, &Channelz::Stub::GetChannel, by_id, same).ok() &&
             Call(*stub_, &Channelz::Stub::GetSubchannel, part_id, part).ok() &&
             part.subchannel().data().calls_started() > 0;
    }
    return false;
  };
  EXPECT_TRUE(WaitUntil(find));
}

TEST_F(ChannelzTest, IdsThatNothingHasAreRefused) {
  Start(true);
  const auto expect = [&](auto method, auto request, auto response, grpc::StatusCode code) {
    EXPECT_EQ(Call(*stub_, method, request, response).error_code(), code)
        << request.GetTypeName() << " " << request.DebugString();
  };
  for (const auto& [id, code] : {std::pair(int64_t{1} << 40, grpc::StatusCode::NOT_FOUND),
                                 std::pair(int64_t{-1}, grpc::StatusCode::INVALID_ARGUMENT)}) {
    channelz::GetServerRequest server;
    server.set_server_id(id);
    expect(&Channelz::Stub::GetServer, server, channelz::GetServerResponse(), code);
    channelz::GetServerSocketsRequest sockets;
    sockets.set_server_id(id);
    expect(&Channelz::Stub::GetServerSockets, sockets, channelz::GetServerSocketsResponse(), code);
    channelz::GetChannelRequest channel;
    channel.set_channel_id(id);
    expect(&Channelz::Stub::GetChannel, channel, channelz::GetChannelResponse(), code);
    channelz::GetSubchannelRequest part;
    part.set_subchannel_id(id);
    expect(&Channelz::Stub::GetSubchannel, part, channelz::GetSubchannelResponse(), code);
    channelz::GetSocketRequest socket;
    socket.set_socket_id(id);
    expect(&Channelz::Stub::GetSocket, socket, channelz::GetSocketResponse(), code);
  }
}

}  // namespace
}  // namespace ttl
