"""The calls of one client: made, repeated within their deadline, and ended with the client."""

from __future__ import annotations

import os
import queue
import random
import threading
import time

import grpc

from ttl_sidecar import channel, errors
from ttl_sidecar.errors import SidecarError
from ttl_sidecar.repeats import Kind, pause_before_repeat

# gRPC's own threads and locks do not come along with a fork. Set in a child of a process that had
# used gRPC through this package.
_used = False
_forked_after_use = False


def _after_fork() -> None:
    global _forked_after_use
    _forked_after_use = _used


os.register_at_fork(after_in_child=_after_fork)


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


class Calls:
    """Makes the calls of one client over one channel. Every failure is a SidecarError.

    Thread-safe.
    """

    def __init__(self, address: str, credentials: grpc.ChannelCredentials | None):
        require_usable_grpc()
        self.address = address
        self.channel = channel.connect(address, credentials)
        self._closed = threading.Event()

    def close(self) -> None:
        """Ends calls under way, and all later ones, with CANCELLED."""
        self._closed.set()
        if not _forked_after_use:
            self.channel.close()

    def unary(self, method, request, timeout: float, kind: Kind):
        """The response to `request`, within `timeout`."""
        end = time.monotonic() + timeout
        unavailable: SidecarError | None = None
        attempt = 1
        while True:
            # What may not be sent twice waits for a connection from the start. The first attempt
            # of others fails where there is none, with the reason. A call that waits also moves
            # the connection on, which gRPC does by itself only every 5 s.
            waits = attempt > 1 or kind in (Kind.REPORT, Kind.CHANGE)
            try:
                with self.errors():
                    return method(request, timeout=max(0.0, end - time.monotonic()),
                                  wait_for_ready=waits)
            except SidecarError as error:
                if error.code is grpc.StatusCode.DEADLINE_EXCEEDED:
                    # Why there was no answer, rather than that there was none.
                    raise unavailable or self.timeout_error(timeout) from error
                if error.code is grpc.StatusCode.UNAVAILABLE:
                    unavailable = error
                pause = pause_before_repeat(kind, error, attempt, end - time.monotonic(),
                                            random.random())
                if pause is None:
                    raise
            self._closed.wait(pause)
            attempt += 1

    def errors(self) -> _Translated:
        """A context in which what gRPC raises becomes a SidecarError."""
        return _Translated(self)

    def translate(self, error: BaseException) -> SidecarError | None:
        """What a failure of gRPC is to the caller; None if it is none of gRPC's."""
        if self._closed.is_set() and isinstance(error, (grpc.RpcError, ValueError)):
            return self._closed_error()
        if isinstance(error, grpc.RpcError):
            return errors.from_call(error, self.address)
        return None

    def timeout_error(self, timeout: float) -> SidecarError:
        """What a caller is told whose time is over. gRPC does not say why."""
        if self._closed.is_set():
            return self._closed_error()
        code, what = grpc.StatusCode.DEADLINE_EXCEEDED, "no answer"
        if self._is_disconnected():
            code, what = grpc.StatusCode.UNAVAILABLE, "no connection"
        return SidecarError(code, f"sidecar at {self.address}: {what} within {timeout:g} s")

    def _is_disconnected(self) -> bool:
        states: queue.SimpleQueue[grpc.ChannelConnectivity] = queue.SimpleQueue()
        take = states.put
        self.channel.subscribe(take)  # which tells the present state first
        try:
            return states.get(timeout=1) is grpc.ChannelConnectivity.TRANSIENT_FAILURE
        except queue.Empty:
            return False
        finally:
            self.channel.unsubscribe(take)

    def require_open(self) -> None:
        require_usable_grpc()
        if self._closed.is_set():
            raise self._closed_error()

    def _closed_error(self) -> SidecarError:
        return SidecarError(grpc.StatusCode.CANCELLED,
                            f"the client of the sidecar at {self.address} is closed")


class _Translated:
    def __init__(self, calls: Calls):
        self._calls = calls

    def __enter__(self) -> None:
        self._calls.require_open()

    def __exit__(self, exception_type, error, traceback) -> None:
        translated = None if error is None else self._calls.translate(error)
        if translated is not None:
            raise translated from error
