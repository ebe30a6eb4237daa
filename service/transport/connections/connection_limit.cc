#include "service/transport/connections/connection_limit.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>

namespace ttl {
namespace {

// Open files other than connections: mostly tables, which LevelDB limits to a thousand.
constexpr int64_t kOtherOpenFiles = 1200;

// The client's socket and both ends of the socket pair of a RelayedConnection.
constexpr int64_t kFilesPerConnection = 3;

// Raises the limit on open files to `wanted` if possible. Returns the limit in force.
int64_t RaiseFileLimit(int64_t wanted) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  if (limit.rlim_cur < static_cast<rlim_t>(wanted)) {
    limit.rlim_cur = std::min(static_cast<rlim_t>(wanted), limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  return static_cast<int64_t>(std::min(limit.rlim_cur, static_cast<rlim_t>(wanted)));
}

}  // namespace

int64_t ConnectionsWithinFileLimit(int64_t wanted) {
  const int64_t wanted_files = kFilesPerConnection * wanted + kOtherOpenFiles;
  const int64_t limit = RaiseFileLimit(wanted_files);
  if (limit == wanted_files) return wanted;
  // If the limit is low, half of it is for other files.
  const int64_t files = std::max(limit - kOtherOpenFiles, limit / 2);
  const int64_t served = std::clamp<int64_t>(files / kFilesPerConnection, 1, wanted);
  spdlog::warn(
      "the limit on open files allows fewer connections: max_connections={} served={} "
      "max_open_files={}",
      wanted, served, limit);
  return served;
}

std::vector<int64_t> SharePlaces(int64_t connections, const std::vector<AddressKind>& addresses) {
  const auto count = [&addresses](AddressKind kind) {
    return static_cast<int64_t>(std::count(addresses.begin(), addresses.end(), kind));
  };
  const int64_t sockets = count(AddressKind::kUnixSocket);
  const int64_t tcp = count(AddressKind::kTcp);
  const int64_t health = count(AddressKind::kHealthOnly);
  const int64_t of_health = sockets + tcp > 0 ? connections / 8 : connections;
  const int64_t rest = health > 0 ? connections - of_health : connections;
  const int64_t of_half = sockets > 0 && tcp > 0 ? rest / 2 : rest;
  std::vector<int64_t> places;
  for (const AddressKind kind : addresses) {
    const int64_t of_kind = kind == AddressKind::kHealthOnly ? of_health : of_half;
    places.push_back(std::max<int64_t>(of_kind / count(kind), 1));
  }
  return places;
}

}  // namespace ttl
