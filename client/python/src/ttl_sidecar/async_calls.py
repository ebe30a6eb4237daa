"""The calls of one asyncio client: made, repeated within their deadline, and ended with it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Iterator, Sequence

import grpc
import grpc.aio

from ttl_sidecar.calls import Ends, was_forked_after_use
from ttl_sidecar.channel import OPTIONS
from ttl_sidecar.errors import SidecarError
from ttl_sidecar.repeats import Attempts, Kind


def is_being_cancelled() -> bool:
    """Whether it is the task that is cancelled, not the call that it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class AsyncCalls:
    """Makes the calls of one client over one channel. Every failure is a SidecarError. For the
    event loop in which it was made."""

    def __init__(self, address: str, credentials: grpc.ChannelCredentials | None,
                 interceptors: Sequence[Any]):
        self.ends = Ends(address)
        self.channel = _connect(address, credentials, interceptors)
        self._closed = asyncio.Event()
        self._under_way: set[Any] = set()

    async def close(self) -> None:
        """Ends calls under way, and all later ones, with CANCELLED."""
        self.ends.is_closed = True
        self._closed.set()
        if was_forked_after_use():
            return
        for call in list(self._under_way):
            call.cancel()
        await self.channel.close(None)

    async def unary(self, method: Any, request: Any, timeout: float, kind: Kind) -> Any:
        """The response to `request`, within `timeout`."""
        attempts = Attempts(kind, timeout)
        while True:
            try:
                self.ends.require_open()
                with self.ending_with_client(method(request, timeout=attempts.left(),
                                                    wait_for_ready=attempts.waits)) as call:
                    return await call
            except SidecarError as error:
                pause = attempts.pause_after(error, self.timeout_error)
            await self.sleep(pause)

    @contextlib.contextmanager
    def ending_with_client(self, call: Any) -> Iterator[Any]:
        """While open, close() cancels `call`, and errors of gRPC are raised as SidecarError."""
        self._under_way.add(call)
        try:
            yield call
        except asyncio.CancelledError:
            if is_being_cancelled():
                raise
            raise self._cancelled_error() from None
        except (grpc.RpcError, ValueError) as error:
            translated = self.ends.translate(error)
            if translated is None:
                raise
            raise translated from error
        finally:
            self._under_way.discard(call)
            call.cancel()

    def timeout_error(self, timeout: float) -> SidecarError:
        is_disconnected = not self.ends.is_closed and (
            self.channel.get_state() is grpc.ChannelConnectivity.TRANSIENT_FAILURE)
        return self.ends.timeout_error(timeout, is_disconnected)

    def _cancelled_error(self) -> SidecarError:
        if self.ends.is_closed:
            return self.ends.closed_error()
        return SidecarError(grpc.StatusCode.CANCELLED, "the call was cancelled")

    async def sleep(self, seconds: float) -> None:
        """Returns earlier if the client is closed."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._closed.wait(), seconds)


def _connect(address: str, credentials: grpc.ChannelCredentials | None,
             interceptors: Sequence[Any]) -> Any:
    if credentials is None:
        return grpc.aio.insecure_channel(address, OPTIONS, interceptors=interceptors)
    return grpc.aio.secure_channel(address, credentials, OPTIONS, interceptors=interceptors)
