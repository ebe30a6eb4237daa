"""What a store implements so that the sidecar can delete what has expired.

PrimaryStore is the servicer with the comparison that makes a delete conditional; a store adds how
it reads, deletes and locks.
"""

from __future__ import annotations

import abc
import concurrent.futures
import threading
from typing import Any, ContextManager, Iterator, NoReturn, Sequence

import grpc

from ttl.v1 import primary_store_service_pb2 as pb
from ttl.v1 import primary_store_service_pb2_grpc
from ttl_sidecar import store_rules
from ttl_sidecar.calls import require_usable_grpc
from ttl_sidecar.socket_path import SocketPath, path_of
from ttl_sidecar.store_rules import Found, Refusal, StoreBusy
from ttl_sidecar.values import Item, Key

SERVER_OPTIONS = [
    ("grpc.so_reuseport", 0),
    # A message is inflated before its size is looked at. So compressed calls get UNIMPLEMENTED.
    ("grpc.per_message_decompression", 0),
    ("grpc.compression_enabled_algorithms_bitset", 1),
]


class PrimaryStore(primary_store_service_pb2_grpc.PrimaryStoreServiceServicer,
                   store_rules.StoreFeatures):
    """Base class of stores. Its methods are called by several threads."""

    @abc.abstractmethod
    def exclusive(self, container: str, keys: Sequence[Key]) -> ContextManager[Any]:
        """While it is held, nobody else changes the items under `keys`."""

    @abc.abstractmethod
    def read(self, container: str, key: Key) -> Item | None:
        """The item as stored, expired or not; None if there is none. Called within exclusive(). An
        etag, if items have one, must change with every write. If it raises, or gives something
        else, the delete of this item has failed."""

    @abc.abstractmethod
    def delete(self, container: str, keys: Sequence[Key]) -> None:
        """Deletes them, durably and all or none. Called within exclusive(), after read(). Not to be
        reported to the sidecar. Whatever it raises leaves the fate of the batch open."""

    def scan(self, container: str, after: Key | None, limit: int) -> Sequence[Item]:
        """The next `limit` items of the container, or all that are left, behind `after` in an order
        of keys that never changes; None: from the first on. Expired ones are included, and nothing
        is locked. Optional: with it, the sidecar can reconcile and rebuild what it knows."""
        raise NotImplementedError

    def GetStoreInfo(self, request: pb.GetStoreInfoRequest,
                     context: grpc.ServicerContext) -> pb.GetStoreInfoResponse:
        return store_rules.store_info(self, self._can_scan())

    def DeleteItems(self, request: pb.DeleteItemsRequest,
                    context: grpc.ServicerContext) -> pb.DeleteItemsResponse:
        try:
            batch = store_rules.Batch(self, request)
        except Refusal as refusal:
            _abort(context, refusal)
        try:
            # Held until the batch is deleted: nobody rewrites an item after its comparison.
            with self.exclusive(request.container, batch.keys):
                stored = [self._read_or_why_not(request.container, key) for key in batch.keys]
                keys = batch.judge(stored)
                if keys:
                    self.delete(request.container, keys)
        except StoreBusy as busy:
            return batch.busy_response(busy)
        return batch.response()

    def ScanItems(self, request: pb.ScanItemsRequest,
                  context: grpc.ServicerContext) -> Iterator[pb.ScanItemsResponse]:
        try:
            scan = store_rules.Scan(request, self._can_scan())
            while scan.limit > 0:
                yield scan.message(self.scan(request.container, scan.after, scan.limit))
        except Refusal as refusal:
            _abort(context, refusal)

    def _can_scan(self) -> bool:
        return type(self).scan is not PrimaryStore.scan

    def _read_or_why_not(self, container: str, key: Key) -> Found:
        try:
            return store_rules.as_found(self.read(container, key))
        except Exception as error:
            return store_rules.as_failure(error)


def serve_store(store: PrimaryStore, address: str, *,
                credentials: grpc.ServerCredentials | None = None) -> grpc.Server:
    """Serves `store` on a gRPC address, such as unix:/run/store/store.sock, until stop(). A socket
    that a killed server left is replaced; OSError if a server answers on it, or the path is no
    socket. SidecarError in a process forked from one that had used gRPC, as for Client."""
    held = hold(address)
    try:
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=8),
                             options=SERVER_OPTIONS)
        primary_store_service_pb2_grpc.add_PrimaryStoreServiceServicer_to_server(store, server)
        bind(server, address, credentials)
        server.start()
    except BaseException:
        if held is not None:
            held.release()
        raise
    if held is not None:
        threading.Thread(target=_release_at_end, args=(server, held), daemon=True).start()
    return server


def hold(address: str) -> SocketPath | None:
    """The right to serve there, to be released when the server has ended; None if none is needed.
    Waits up to a second for a server that is just ending."""
    require_usable_grpc()
    path = path_of(address)
    return None if path is None else SocketPath(path)


def bind(server: Any, address: str, credentials: grpc.ServerCredentials | None) -> None:
    """Of a server of threads or of asyncio. OSError if it cannot listen there."""
    if credentials is None:
        bound = server.add_insecure_port(address)
    else:
        bound = server.add_secure_port(address, credentials)
    if bound == 0:
        raise OSError(f"cannot listen on {address}")


def _release_at_end(server: grpc.Server, held: SocketPath) -> None:
    # gRPC removes the socket at the path when it ends; until then nobody else may bind there.
    server.wait_for_termination()
    held.release()


def _abort(context: grpc.ServicerContext, refusal: Refusal) -> NoReturn:
    context.abort(refusal.code, refusal.message)
    raise AssertionError("abort() has not raised")
