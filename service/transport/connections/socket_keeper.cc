#include "service/transport/connections/socket_keeper.h"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "service/base/status_macros.h"
#include "service/transport/connections/listening_socket.h"

namespace ttl {

std::optional<Fd> SocketKeeper::Review() {
  std::optional<Fd> made;
  absl::Status state = socket_.CheckInPlace();
  if (!state.ok()) state = BindAgain(made);
  const std::string path = absl::CHexEscape(socket_.path());
  const MutexLock lock(mutex_);
  if (made.has_value()) {
    spdlog::warn("socket file was missing and has been recreated: socket=\"{}\"", path);
  } else if (state != state_ && !state.ok()) {
    spdlog::error("socket file is missing, clients cannot connect: socket=\"{}\" reason=\"{}\"",
                  path, absl::CHexEscape(state.message()));
  }
  state_ = std::move(state);
  return made;
}

absl::Status SocketKeeper::BindAgain(std::optional<Fd>& made) {
  Fd listening;
  TTL_RETURN_IF_ERROR(socket_.BindAgain([&]() -> absl::Status {
    TTL_ASSIGN_OR_RETURN(listening, ListenOnPath(socket_.path()));
    return absl::OkStatus();
  }));
  made = std::move(listening);
  return absl::OkStatus();
}

absl::Status SocketKeeper::state() const {
  const MutexLock lock(mutex_);
  return state_;
}

}  // namespace ttl
