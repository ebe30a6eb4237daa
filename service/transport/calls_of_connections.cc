// gRPC counts for channelz how many streams of each connection were begun, and to how many the end
// of a response was sent. channelz gives JSON with sorted fields and numbers as text. A TCP socket
// is named "chttp2 ipv4:127.0.0.1:5000" or "chttp2 ipv6:%5B::1%5D:5000"; other names are Unix
// sockets.

#include "service/transport/calls_of_connections.h"

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include <cstddef>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace ttl {
namespace {

constexpr int64_t kNanosecondsBetweenReads = 100'000'000;
constexpr intptr_t kAllSockets = intptr_t{1} << 30;

// Frees memory of gRPC. Null: the entity does not exist.
struct Free {
  void operator()(char* text) const { gpr_free(text); }
};
using Json = std::unique_ptr<char, Free>;

// The value of the first field of that name, past which `json` is advanced; absent if there is
// none.
std::optional<absl::string_view> TakeText(absl::string_view& json, absl::string_view field) {
  const std::string begin = absl::StrCat("\"", field, "\":\"");
  const size_t at = json.find(begin);
  if (at == absl::string_view::npos) return std::nullopt;
  json.remove_prefix(at + begin.size());
  const absl::string_view value = json.substr(0, json.find('"'));
  json.remove_prefix(value.size());
  return value;
}

std::optional<int64_t> TakeNumber(absl::string_view& json, absl::string_view field) {
  const std::optional<absl::string_view> text = TakeText(json, field);
  int64_t number = 0;
  if (!text.has_value() || !absl::SimpleAtoi(*text, &number)) return std::nullopt;
  return number;
}

// channelz omits counters that are 0.
int64_t Count(absl::string_view json, absl::string_view field) {
  return TakeNumber(json, field).value_or(0);
}

// HOST:PORT of a channelz socket name; empty for a Unix socket.
std::string ClientOf(absl::string_view socket) {
  if (absl::ConsumePrefix(&socket, "chttp2 ipv4:")) return std::string(socket);
  if (!absl::ConsumePrefix(&socket, "chttp2 ipv6:")) return "";
  return absl::StrReplaceAll(socket, {{"%5B", ""}, {"%5D", ""}, {"[", ""}, {"]", ""}});
}

}  // namespace

std::optional<int64_t> CallsOfConnections::CountUnanswered(const std::string& client) {
  // An IPv4 client of an IPv6 socket.
  const std::string plain(absl::StripPrefix(client, "::ffff:"));
  if (!sockets_.contains(plain)) ReadConnections();
  const auto found = sockets_.find(plain);
  if (found == sockets_.end()) return std::nullopt;
  const Json socket(grpc_channelz_get_socket(static_cast<intptr_t>(found->second)));
  if (socket == nullptr) {
    sockets_.erase(found);
    return std::nullopt;
  }
  return Count(socket.get(), "streamsStarted") - Count(socket.get(), "streamsSucceeded");
}

void CallsOfConnections::ReadConnections() {
  if (since_read_.has_value() && since_read_->Nanoseconds() < kNanosecondsBetweenReads) return;
  since_read_.emplace();
  sockets_.clear();
  const Json servers(grpc_channelz_get_servers(0));
  absl::string_view left = servers == nullptr ? "" : servers.get();
  while (const std::optional<int64_t> server = TakeNumber(left, "serverId")) {
    const Json sockets(
        grpc_channelz_get_server_sockets(static_cast<intptr_t>(*server), 0, kAllSockets));
    absl::string_view more = sockets == nullptr ? "" : sockets.get();
    while (const std::optional<absl::string_view> name = TakeText(more, "name")) {
      const std::optional<int64_t> number = TakeNumber(more, "socketId");
      const std::string client = ClientOf(*name);
      if (number.has_value() && !client.empty()) sockets_[client] = *number;
    }
  }
}

}  // namespace ttl
