"""Streams as iterators, with a deadline for every answer."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Generator, Iterable, Iterator

import grpc

from ttl_sidecar import errors
from ttl_sidecar.answer_clock import AnswerClock
from ttl_sidecar.calls import Calls
from ttl_sidecar.errors import SidecarError
from ttl_sidecar.requests import Download, EventWatch


class Watchdog:
    """Calls `on_timeout` once if somebody waits for an answer longer than `timeout`, as AnswerClock
    counts it."""

    def __init__(self, timeout: float, on_timeout: Callable[[], object]):
        self._on_timeout = on_timeout
        self._changed = threading.Condition()
        self._clock = AnswerClock(timeout)
        self._closed = False
        self.timed_out = False
        threading.Thread(target=self._watch, daemon=True).start()

    def sent(self) -> None:
        with self._changed:
            self._clock.sent()
            self._changed.notify()

    def answered(self) -> None:
        with self._changed:
            self._clock.answered()

    @property
    def unanswered(self) -> int:
        with self._changed:
            return self._clock.unanswered

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        with self._changed:
            self._clock.begin_waiting()
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._clock.end_waiting()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                remaining = self._clock.remaining()
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
    return calls.ends.translate(error) or error


def exchange(method: Any, requests: Iterable[Any], timeout: float, calls: Calls) -> Iterator[Any]:
    """Sends `requests` over one bidirectional stream and yields an answer for each, in order. What
    `requests` raises is raised to the reader."""
    calls.ends.require_open()
    started: list[grpc.Call] = []
    watchdog = Watchdog(timeout, lambda: started[0].cancel())
    raised: list[BaseException] = []

    def feed() -> Iterator[Any]:
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
            raise errors.unanswered(watchdog.unanswered)
    except (grpc.RpcError, ValueError) as error:
        if raised:
            raise raised[0]
        raise _translate(error, watchdog, timeout, calls) from error
    finally:
        watchdog.close()
        if started:
            started[0].cancel()


def follow(method: Any, request: Any, longest_silence: float,
           calls: Calls) -> Generator[Any, None, None]:
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
                raise calls.ends.ended_error()
            watchdog.answered()
            yield response
    except grpc.RpcError as error:
        raise _translate(error, watchdog, longest_silence, calls) from error
    finally:
        watchdog.close()
        call.cancel()


def follow_events(method: Any, watch: EventWatch, calls: Calls) -> Iterator[Any]:
    """Yields what the server sends, over one stream after the other. The next one begins behind the
    last response that the reader has come back from."""
    while True:
        try:
            stream = follow(method, watch.request, watch.longest_silence, calls)
            with contextlib.closing(stream):
                for response in stream:
                    watch.heard()
                    yield response
                    watch.move_behind(response)
        except SidecarError as error:
            if not watch.may_resume_after(error):
                raise
        calls.sleep(watch.next_pause())


def download(method: Any, download: Download, calls: Calls) -> Iterator[Any]:
    """Yields what the server sends, for as long as it takes. Neither waits for a connection nor is
    begun again."""
    with calls.errors():
        call = method(download.request)
    last = None
    try:
        for last in call:
            yield last
    except grpc.RpcError as error:
        raise calls.ends.translate(error) or error from error
    finally:
        call.cancel()
    download.require_finished(last)
