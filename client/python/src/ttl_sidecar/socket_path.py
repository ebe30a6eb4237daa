"""The right to serve at the path of a Unix socket."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import stat
import time

# For a server of this process that is just ending.
_LOCK_WAIT = 1.0


class SocketPath:
    """Held by a lock on the file PATH.lock, which ends with the process and stays there for the
    next one. gRPC removes whatever socket is at a path before it binds: without this, a second
    server would take the socket of the first.
    """

    def __init__(self, path: str):
        """Takes the path. OSError (EADDRINUSE) if another process holds it, a server answers on
        it, or the path is not a socket; never removes anything. gRPC removes a stale socket."""
        self._lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW,
                             0o600)
        try:
            _lock(self._lock, path)
            _require_stale(path)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1


def path_of(address: str) -> str | None:
    """The path in a gRPC address such as unix:PATH or unix:///PATH; None for other schemes."""
    if not address.startswith("unix:"):
        return None
    path = address.removeprefix("unix:")
    return path.removeprefix("//") if path.startswith("///") else path


def _in_use(path: str, why: str) -> OSError:
    return OSError(errno.EADDRINUSE, f"{path} is in use: {why}")


def _lock(lock: int, path: str) -> None:
    end = time.monotonic() + _LOCK_WAIT
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise _in_use(path, f"another process holds {path}.lock") from None
            time.sleep(0.01)


def _require_stale(path: str) -> None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise _in_use(path, "it is not a socket and will not be removed; give another path")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        result = probe.connect_ex(path)
    # A full queue of connections is of a server, too.
    if result in (0, errno.EAGAIN):
        raise _in_use(path, "a server answers on it")
    if result not in (errno.ECONNREFUSED, errno.ENOENT):
        raise OSError(result, f"cannot tell whether {path} is in use: {os.strerror(result)}")
