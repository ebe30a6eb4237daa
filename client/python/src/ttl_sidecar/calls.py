"""The calls of one client: made, repeated within their deadline, and ended with the client."""

from __future__ import annotations

import os
import queue
import threading
from typing import Any, Sequence

import grpc

from ttl_sidecar import errors
from ttl_sidecar.channel import OPTIONS
from ttl_sidecar.errors import SidecarError
from ttl_sidecar.repeats import Attempts, Kind

# gRPC's own threads and locks do not come along with a fork. Set in a child of a process that had
# used gRPC through this package.
_used = False
_forked_after_use = False


def _after_fork() -> None:
    global _forked_after_use
    _forked_after_use = _used


os.register_at_fork(after_in_child=_after_fork)


def was_forked_after_use() -> bool:
    """Whether this is a child of a process that had used gRPC."""
    return _forked_after_use


def require_usable_grpc() -> None:
    """To be called before gRPC is used. FAILED_PRECONDITION in a process in which it would hang."""
    global _used
    if _forked_after_use:
        raise SidecarError(
            grpc.StatusCode.FAILED_PRECONDITION,
            "this process was forked from one that had made a client or a store server, and gRPC "
            "does not survive that; make the first client after fork(), or start processes by "
            "\"spawn\"")
    _used = True


class Ends:
    """Whether a client is closed, and what its callers are told when a call ends without an
    answer. Shared by the calls of threads and of asyncio."""

    def __init__(self, address: str):
        require_usable_grpc()
        self.address = address
        self.is_closed = False

    def require_open(self) -> None:
        require_usable_grpc()
        if self.is_closed:
            raise self.closed_error()

    def closed_error(self) -> SidecarError:
        return SidecarError(grpc.StatusCode.CANCELLED,
                            f"the client of the sidecar at {self.address} is closed")

    def timeout_error(self, timeout: float, is_disconnected: bool) -> SidecarError:
        """The error of a call whose deadline has passed."""
        if self.is_closed:
            return self.closed_error()
        code, what = grpc.StatusCode.DEADLINE_EXCEEDED, "no answer"
        if is_disconnected:
            code, what = grpc.StatusCode.UNAVAILABLE, "no connection"
        return SidecarError(code, f"sidecar at {self.address}: {what} within {timeout:g} s")

    def ended_error(self) -> SidecarError:
        """The error of a stream that the server ended."""
        return SidecarError(grpc.StatusCode.UNAVAILABLE,
                            f"sidecar at {self.address}: the stream has ended")

    def translate(self, error: BaseException) -> SidecarError | None:
        """The SidecarError for an error of gRPC; None for other exceptions."""
        if self.is_closed and isinstance(error, (grpc.RpcError, ValueError)):
            return self.closed_error()
        if isinstance(error, grpc.RpcError):
            return errors.from_call(error, self.address)
        return None


class Calls:
    """Makes the calls of one client over one channel. Every failure is a SidecarError.

    Thread-safe.
    """

    def __init__(self, address: str, credentials: grpc.ChannelCredentials | None,
                 interceptors: Sequence[Any]):
        self.ends = Ends(address)
        self.channel = _connect(address, credentials, interceptors)
        self._closed = threading.Event()

    def close(self) -> None:
        """Ends calls under way, and all later ones, with CANCELLED."""
        self.ends.is_closed = True
        self._closed.set()
        if not was_forked_after_use():
            self.channel.close()

    def unary(self, method: Any, request: Any, timeout: float, kind: Kind) -> Any:
        """The response to `request`, within `timeout`."""
        attempts = Attempts(kind, timeout)
        while True:
            try:
                with self.errors():
                    return method(request, timeout=attempts.left(), wait_for_ready=attempts.waits)
            except SidecarError as error:
                pause = attempts.pause_after(error, self.timeout_error)
            self.sleep(pause)

    def sleep(self, seconds: float) -> None:
        """Returns earlier if the client is closed."""
        self._closed.wait(seconds)

    def errors(self) -> _Translated:
        """A context in which what gRPC raises becomes a SidecarError."""
        return _Translated(self.ends)

    def timeout_error(self, timeout: float) -> SidecarError:
        return self.ends.timeout_error(timeout, self._is_disconnected())

    def _is_disconnected(self) -> bool:
        if self.ends.is_closed:
            return False
        states: queue.SimpleQueue[grpc.ChannelConnectivity] = queue.SimpleQueue()
        take = states.put
        self.channel.subscribe(take)  # which tells the present state first
        try:
            return states.get(timeout=1) is grpc.ChannelConnectivity.TRANSIENT_FAILURE
        except queue.Empty:
            return False
        finally:
            self.channel.unsubscribe(take)


class _Translated:
    def __init__(self, ends: Ends):
        self._ends = ends

    def __enter__(self) -> None:
        self._ends.require_open()

    def __exit__(self, exception_type: Any, error: BaseException | None, traceback: Any) -> None:
        translated = None if error is None else self._ends.translate(error)
        if translated is not None:
            raise translated from error


def _connect(address: str, credentials: grpc.ChannelCredentials | None,
             interceptors: Sequence[Any]) -> grpc.Channel:
    if credentials is None:
        channel = grpc.insecure_channel(address, OPTIONS)
    else:
        channel = grpc.secure_channel(address, credentials, OPTIONS)
    return grpc.intercept_channel(channel, *interceptors)
