"""Streams as iterators, with a deadline for every answer."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import threading
import time
from typing import Callable, Generic, Iterable, Iterator, TypeVar

import grpc

from ttl_sidecar.calls import Calls
from ttl_sidecar.errors import SidecarError

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """The answer to one message of a stream: its results, or why it was refused. A refused message
    does not end the stream."""

    values: list[T] | None
    error: SidecarError | None = None

    def results(self) -> list[T]:
        """The results; raises the error of a refused message."""
        if self.error is not None:
            raise self.error
        assert self.values is not None
        return self.values


class Watchdog:
    """Calls `on_timeout` once if somebody waits for an answer longer than `timeout`: counted from
    when the message was sent, or from when its reader came to wait, whichever is later."""

    def __init__(self, timeout: float, on_timeout: Callable[[], object]):
        self._timeout = timeout
        self._on_timeout = on_timeout
        self._changed = threading.Condition()
        self._sent: collections.deque[float] = collections.deque()
        self._waiting_since: float | None = None
        self._closed = False
        self.timed_out = False
        threading.Thread(target=self._watch, daemon=True).start()

    def sent(self) -> None:
        with self._changed:
            self._sent.append(time.monotonic())
            self._changed.notify()

    def answered(self) -> None:
        with self._changed:
            self._sent.popleft()

    @property
    def unanswered(self) -> int:
        with self._changed:
            return len(self._sent)

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        with self._changed:
            self._waiting_since = time.monotonic()
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._waiting_since = None

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _remaining(self) -> float | None:
        """Seconds left, or None if nobody waits for anything."""
        if self._waiting_since is None or not self._sent:
            return None
        return max(self._sent[0], self._waiting_since) + self._timeout - time.monotonic()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                remaining = self._remaining()
                if remaining is not None and remaining <= 0:
                    self.timed_out = True
                    break
                self._changed.wait(remaining)
        if self.timed_out:
            self._on_timeout()


def _translate(error: BaseException, watchdog: Watchdog, timeout: float,
               calls: Calls) -> BaseException:
    if watchdog.timed_out and isinstance(error, grpc.RpcError):
        return calls.timeout_error(timeout)
    return calls.translate(error) or error


def exchange(method, requests: Iterable, timeout: float, calls: Calls) -> Iterator:
    """Sends `requests` over one bidirectional stream and yields an answer for each, in order. What
    `requests` raises is raised to the reader."""
    calls.require_open()
    started: list[grpc.Call] = []
    watchdog = Watchdog(timeout, lambda: started[0].cancel())
    raised: list[BaseException] = []

    def feed():
        try:
            for request in requests:
                watchdog.sent()
                yield request
        except Exception as error:
            raised.append(error)
            raise

    try:
        started.append(method(feed(), wait_for_ready=True))
        started[0].add_done_callback(lambda call: watchdog.close())
        while True:
            with watchdog.waiting():
                response = next(started[0], None)
            if response is None:
                break
            watchdog.answered()
            yield response
        if watchdog.unanswered:
            raise SidecarError(grpc.StatusCode.INTERNAL,
                               f"the stream ended with {watchdog.unanswered} messages unanswered")
    except (grpc.RpcError, ValueError) as error:
        if raised:
            raise raised[0]
        raise _translate(error, watchdog, timeout, calls) from error
    finally:
        watchdog.close()
        if started:
            started[0].cancel()


def follow(method, request, longest_silence: float, calls: Calls) -> Iterator:
    """Yields what the server sends until it ends the stream, which is an error."""
    with calls.errors():
        call = method(request, wait_for_ready=True)
    watchdog = Watchdog(longest_silence, call.cancel)
    call.add_done_callback(lambda call: watchdog.close())
    try:
        while True:
            watchdog.sent()
            with watchdog.waiting():
                response = next(call, None)
            if response is None:
                raise SidecarError(grpc.StatusCode.UNAVAILABLE,
                                   f"sidecar at {calls.address}: the stream has ended")
            watchdog.answered()
            yield response
    except grpc.RpcError as error:
        raise _translate(error, watchdog, longest_silence, calls) from error
    finally:
        watchdog.close()
        call.cancel()
