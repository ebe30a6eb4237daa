"""A store on an event loop: PrimaryStore with methods that may be coroutines."""

from __future__ import annotations

import abc
import asyncio
import contextlib
import inspect
import logging
from typing import Any, AsyncContextManager, AsyncIterator, Awaitable, ContextManager, Sequence

import grpc
import grpc.aio

from ttl.v1 import primary_store_service_pb2 as pb
from ttl.v1 import primary_store_service_pb2_grpc
from ttl_sidecar import store_rules
from ttl_sidecar.socket_path import SocketPath
from ttl_sidecar.store import SERVER_OPTIONS, bind, hold
from ttl_sidecar.store_rules import Found, Refusal, StoreBusy
from ttl_sidecar.values import Item, Key

_log = logging.getLogger(__name__)

# The event loop holds only weak references to tasks.
_tasks: set[asyncio.Task[Any]] = set()


class AsyncPrimaryStore(primary_store_service_pb2_grpc.PrimaryStoreServiceServicer,
                        store_rules.StoreFeatures):
    """Base class of stores for asyncio. The contracts of its methods are those of PrimaryStore; all
    run in the loop of serve_async_store(), which they must not block. A batch that has started is
    completed even if the sidecar cancels the call."""

    @abc.abstractmethod
    def exclusive(self, container: str,
                  keys: Sequence[Key]) -> AsyncContextManager[Any] | ContextManager[Any]:
        """While it is held, nobody else changes the items under `keys`. A context manager that is
        not asynchronous must not block."""

    @abc.abstractmethod
    def read(self, container: str, key: Key) -> Item | None | Awaitable[Item | None]:
        """As PrimaryStore.read()."""

    @abc.abstractmethod
    def delete(self, container: str, keys: Sequence[Key]) -> None | Awaitable[None]:
        """As PrimaryStore.delete()."""

    def scan(self, container: str, after: Key | None,
             limit: int) -> Sequence[Item] | Awaitable[Sequence[Item]]:
        """As PrimaryStore.scan(), optional like it."""
        raise NotImplementedError

    async def GetStoreInfo(self, request: pb.GetStoreInfoRequest,
                           context: Any) -> pb.GetStoreInfoResponse:
        return store_rules.store_info(self, self._can_scan())

    async def DeleteItems(self, request: pb.DeleteItemsRequest,
                          context: Any) -> pb.DeleteItemsResponse:
        try:
            batch = store_rules.Batch(self, request)
        except Refusal as refusal:
            await context.abort(refusal.code, refusal.message)
        deletes = _keep(self._delete(request.container, batch), self._batches())
        try:
            await asyncio.shield(deletes)
        except StoreBusy as busy:
            return batch.busy_response(busy)
        except asyncio.CancelledError:
            deletes.add_done_callback(_log_failure)
            raise
        return batch.response()

    async def ScanItems(self, request: pb.ScanItemsRequest,
                        context: Any) -> AsyncIterator[pb.ScanItemsResponse]:
        try:
            scan = store_rules.Scan(request, self._can_scan())
            while scan.limit > 0:
                items = await _settled(self.scan(request.container, scan.after, scan.limit))
                yield scan.message(items)
        except Refusal as refusal:
            await context.abort(refusal.code, refusal.message)

    def _batches(self) -> set[asyncio.Task[Any]]:
        """Those under way. Made here, as a store need not call the constructor of this class."""
        batches: set[asyncio.Task[Any]] = vars(self).setdefault("_started_batches", set())
        return batches

    def _can_scan(self) -> bool:
        return type(self).scan is not AsyncPrimaryStore.scan

    async def _delete(self, container: str, batch: store_rules.Batch) -> None:
        # Held until the batch is deleted: nobody rewrites an item after its comparison.
        async with _entered(self.exclusive(container, batch.keys)):
            stored = [await self._read_or_why_not(container, key) for key in batch.keys]
            keys = batch.judge(stored)
            if keys:
                await _settled(self.delete(container, keys))

    async def _read_or_why_not(self, container: str, key: Key) -> Found:
        try:
            return store_rules.as_found(await _settled(self.read(container, key)))
        except Exception as error:
            return store_rules.as_failure(error)


async def serve_async_store(store: AsyncPrimaryStore, address: str, *,
                            credentials: grpc.ServerCredentials | None = None) -> Any:
    """Serves `store` in the running event loop as serve_store() does; returns the grpc.aio.Server.
    Its stop() and wait_for_termination() also wait for the batches that have started: await one of
    them before the loop ends."""
    held = await asyncio.to_thread(hold, address)
    try:
        server = grpc.aio.server(options=SERVER_OPTIONS)
        primary_store_service_pb2_grpc.add_PrimaryStoreServiceServicer_to_server(store, server)
        bind(server, address, credentials)
        await server.start()
    except BaseException:
        if held is not None:
            held.release()
        raise
    return _StoreServer(server, _keep(_end(server, store, held), _tasks))


class _StoreServer:
    """A grpc.aio.Server that has ended when `end` has."""

    def __init__(self, server: Any, end: asyncio.Task[None]):
        self._server = server
        self._end = end

    async def stop(self, grace: float | None) -> None:
        await self._server.stop(grace)
        await asyncio.shield(self._end)

    async def wait_for_termination(self, timeout: float | None = None) -> bool:
        """Whether `timeout` passed before the end."""
        ended, _ = await asyncio.wait([self._end], timeout=timeout)
        return not ended

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)


async def _end(server: Any, store: AsyncPrimaryStore, held: SocketPath | None) -> None:
    # gRPC removes the socket at the path when it ends; until then nobody else may bind there.
    try:
        await server.wait_for_termination()
        while batches := store._batches():
            await asyncio.wait(batches)
    finally:
        if held is not None:
            held.release()


def _keep(work: Any, tasks: set[asyncio.Task[Any]]) -> asyncio.Task[Any]:
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return task


def _log_failure(deletes: asyncio.Task[Any]) -> None:
    error = None if deletes.cancelled() else deletes.exception()
    if error is not None and not isinstance(error, StoreBusy):
        _log.error("a batch of deletes failed after its call had been cancelled", exc_info=error)


async def _settled(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result


@contextlib.asynccontextmanager
async def _entered(manager: Any) -> AsyncIterator[None]:
    """Enters a context manager of either kind."""
    if hasattr(manager, "__aenter__"):
        async with manager:
            yield
    else:
        with manager:
            yield
