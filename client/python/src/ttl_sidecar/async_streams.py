"""Streams as asynchronous iterators, with a deadline for every answer."""

from __future__ import annotations

import asyncio
import contextlib
from typing import (
    Any, AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, TypeVar)

from ttl_sidecar import errors
from ttl_sidecar.answer_clock import AnswerClock
from ttl_sidecar.async_calls import AsyncCalls, is_being_cancelled
from ttl_sidecar.requests import Download, EventWatch

T = TypeVar("T")


class AsyncWatchdog:
    """Calls `on_timeout` once if somebody waits for an answer longer than `timeout`, as AnswerClock
    counts it."""

    def __init__(self, timeout: float, on_timeout: Callable[[], object]):
        self._clock = AnswerClock(timeout)
        self._on_timeout = on_timeout
        self._timer: asyncio.TimerHandle | None = None
        self.timed_out = False

    def sent(self) -> None:
        self._clock.sent()
        self._look()

    def answered(self) -> None:
        self._clock.answered()

    @property
    def unanswered(self) -> int:
        return self._clock.unanswered

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        self._clock.begin_waiting()
        self._look()
        try:
            yield
        finally:
            self._clock.end_waiting()
            self._disarm()

    def _look(self) -> None:
        self._disarm()
        remaining = self._clock.remaining()
        if remaining is None:
            return
        if remaining <= 0:
            self.timed_out = True
            self._on_timeout()
            return
        # A longer one would overflow the clock of the selector.
        wait = min(remaining, 24 * 3600.0)
        self._timer = asyncio.get_running_loop().call_later(wait, self._look)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


async def _in_turn(entries: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    if isinstance(entries, AsyncIterable):
        async for entry in entries:
            yield entry
    else:
        for entry in entries:
            yield entry


async def _next_of(messages: AsyncIterator[Any], watchdog: AsyncWatchdog) -> Any:
    """The next message, None at the end."""
    with watchdog.waiting():
        return await anext(messages, None)


async def exchange(method: Any, requests: Iterable[Any] | AsyncIterable[Any],
                   make_message: Callable[[Any], Any], timeout: float,
                   calls: AsyncCalls) -> AsyncGenerator[Any, None]:
    """Sends a message for each of `requests` over one bidirectional stream and yields an answer for
    each, in order. What `requests` raises is raised to the reader."""
    calls.ends.require_open()
    raised: list[BaseException] = []

    async def feed() -> AsyncIterator[Any]:
        try:
            async for request in _in_turn(requests):
                message = make_message(request)
                watchdog.sent()
                yield message
        except GeneratorExit:
            raise
        except BaseException as error:
            # gRPC cancels the task that reads the batches when the call ends.
            if not (isinstance(error, asyncio.CancelledError) and is_being_cancelled()):
                raised.append(error)
            raise

    watchdog = AsyncWatchdog(timeout, lambda: call.cancel())
    call = method(feed(), wait_for_ready=True)
    try:
        with calls.ending_with_client(call):
            messages = aiter(call)
            while (response := await _next_of(messages, watchdog)) is not None:
                watchdog.answered()
                yield response
            if watchdog.unanswered:
                raise errors.unanswered(watchdog.unanswered)
    except errors.SidecarError as error:
        if raised:
            raise raised[0] from None
        if watchdog.timed_out:
            raise calls.timeout_error(timeout) from error
        raise


async def follow(method: Any, request: Any, longest_silence: float,
                 calls: AsyncCalls) -> AsyncGenerator[Any, None]:
    """Yields what the server sends until it ends the stream, which is an error."""
    calls.ends.require_open()
    watchdog = AsyncWatchdog(longest_silence, lambda: call.cancel())
    call = method(request, wait_for_ready=True)
    try:
        with calls.ending_with_client(call):
            messages = aiter(call)
            while True:
                watchdog.sent()
                response = await _next_of(messages, watchdog)
                if response is None:
                    raise calls.ends.ended_error()
                watchdog.answered()
                yield response
    except errors.SidecarError as error:
        if watchdog.timed_out:
            raise calls.timeout_error(longest_silence) from error
        raise


async def follow_events(method: Any, watch: EventWatch,
                        calls: AsyncCalls) -> AsyncGenerator[Any, None]:
    """Yields what the server sends, over one stream after the other. The next one begins behind the
    last response that the reader has come back from."""
    while True:
        try:
            stream = follow(method, watch.request, watch.longest_silence, calls)
            async with contextlib.aclosing(stream):
                async for response in stream:
                    watch.heard()
                    yield response
                    watch.move_behind(response)
        except errors.SidecarError as error:
            if not watch.may_resume_after(error):
                raise
        await calls.sleep(watch.next_pause())


async def download(method: Any, download: Download,
                   calls: AsyncCalls) -> AsyncGenerator[Any, None]:
    """Yields what the server sends, for as long as it takes. Neither waits for a connection nor is
    begun again."""
    calls.ends.require_open()
    last = None
    with calls.ending_with_client(method(download.request)) as call:
        async for last in call:
            yield last
    download.require_finished(last)
