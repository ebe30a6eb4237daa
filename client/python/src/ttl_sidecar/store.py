"""What a store implements so that the sidecar can delete what has expired.

PrimaryStore is the servicer with the comparison that makes a delete conditional; a store adds how
it reads, deletes and locks.
"""

from __future__ import annotations

import abc
import concurrent.futures
import threading
import time
from typing import ContextManager, Sequence

import grpc
from google.protobuf import duration_pb2, timestamp_pb2

from ttl.v1 import primary_store_service_pb2 as pb
from ttl.v1 import primary_store_service_pb2_grpc
from ttl_sidecar.calls import require_usable_grpc
from ttl_sidecar.socket_path import SocketPath, path_of
from ttl_sidecar.values import Item, Key

_SECOND = 1_000_000_000
# With the longest keys they still fit into one message.
_MAX_SCANNED_AT_ONCE = 500


class StoreBusy(Exception):
    """Raised by a store that has no capacity for deletes now: all of the batch is answered
    THROTTLED, and none is sent for this container for `retry_after` seconds, at most an hour."""

    def __init__(self, retry_after: float):
        super().__init__(f"busy for {retry_after:g} s")
        self.retry_after = retry_after

    def __reduce__(self):
        return type(self), (self.retry_after,)


class PrimaryStore(primary_store_service_pb2_grpc.PrimaryStoreServiceServicer, abc.ABC):
    """Base class of stores. Its methods are called by several threads."""

    # Most items that the sidecar sends at once.
    max_batch_items = 1000

    # Whether read() and scan() give the expire_at of items that have one. Until then the sidecar
    # deletes no item with an expire_at.
    knows_expire_at = False

    @property
    @abc.abstractmethod
    def store_id(self) -> str:
        """Identity of the data: the same after restarts, different after a restore elsewhere."""

    @abc.abstractmethod
    def exclusive(self, container: str, keys: Sequence[Key]) -> ContextManager:
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

    def now_ns(self) -> int:
        """The clock that stamps ts, in nanoseconds since 1970."""
        return time.time_ns()

    def GetStoreInfo(self, request, context):
        capabilities = [pb.STORE_CAPABILITY_ETAG]
        if self._can_scan():
            capabilities.append(pb.STORE_CAPABILITY_SCAN)
        if self.knows_expire_at:
            capabilities.append(pb.STORE_CAPABILITY_EXPIRE_AT)
        return pb.GetStoreInfoResponse(
            store_id=self.store_id, now=_timestamp(self.now_ns()),
            max_batch_items=self.max_batch_items, capabilities=capabilities)

    def DeleteItems(self, request, context):
        if not request.HasField("not_after") or not request.items:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT,
                          "not_after and at least one of items are required")
        # The sidecar may have known another store at this address.
        if request.store_id not in ("", self.store_id):
            context.abort(grpc.StatusCode.FAILED_PRECONDITION,
                          f"store_id is {request.store_id!r}: this store is {self.store_id!r}")
        try:
            return self._delete_items(request)
        except StoreBusy as busy:
            response = pb.DeleteItemsResponse(store_now=_timestamp(self.now_ns()))
            response.results.extend([_result(pb.DELETE_OUTCOME_THROTTLED)] * len(request.items))
            response.retry_after.CopyFrom(_duration(busy.retry_after))
            return response

    def ScanItems(self, request, context):
        if not self._can_scan():
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "this store does not scan")
        after, left = _key_of(request.page_token, context), request.max_items
        if left < 1:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"max_items = {left}: at least 1")
        while left > 0:
            limit = min(left, _MAX_SCANNED_AT_ONCE)
            items = self.scan(request.container, after, limit)
            after = items[-1].key if len(items) == limit else None
            yield pb.ScanItemsResponse(items=[item.to_proto() for item in items],
                                       next_page_token=_token_of(after))
            left = 0 if after is None else left - limit

    def _can_scan(self) -> bool:
        return type(self).scan is not PrimaryStore.scan

    def _delete_items(self, request: pb.DeleteItemsRequest) -> pb.DeleteItemsResponse:
        keys = [Key(item.partition_key, item.id) for item in request.items]
        # Held until the batch is deleted: nobody rewrites an item between comparison and delete.
        with self.exclusive(request.container, keys):
            stored = [self._read_or_why_not(request.container, key) for key in keys]
            now = self.now_ns()
            results = []
            doomed: dict[Key, None] = {}
            for expired, key, found in zip(request.items, keys, stored):
                result = _judge(expired, found, now, request.not_after.ToNanoseconds())
                if result.outcome == pb.DELETE_OUTCOME_DELETED and key in doomed:
                    result = _result(pb.DELETE_OUTCOME_NOT_FOUND)  # the key came twice
                elif result.outcome == pb.DELETE_OUTCOME_DELETED:
                    doomed[key] = None
                results.append(result)
            if doomed:
                self.delete(request.container, list(doomed))
        return pb.DeleteItemsResponse(results=results, store_now=_timestamp(self.now_ns()))

    def _read_or_why_not(self, container: str, key: Key) -> Item | None | str:
        try:
            found = self.read(container, key)
        except StoreBusy:
            raise
        except Exception as error:  # one item that cannot be read must not hold up the others
            return f"the item cannot be read: {type(error).__name__}"
        if found is None or isinstance(found, Item):
            return found
        return f"the item cannot be read: read() gave a {type(found).__name__}"


def serve_store(store: PrimaryStore, address: str, *,
                credentials: grpc.ServerCredentials | None = None) -> grpc.Server:
    """Serves `store` on a gRPC address, such as unix:/run/store/store.sock, until stop(). A socket
    that a killed server left is replaced; OSError if a server answers on it, or the path is no
    socket. SidecarError in a process forked from one that had used gRPC, as for Client."""
    require_usable_grpc()
    path = path_of(address)
    held = None if path is None else SocketPath(path)
    try:
        server = _serve(store, address, credentials)
    except BaseException:
        if held is not None:
            held.release()
        raise
    if held is not None:
        threading.Thread(target=_release_at_end, args=(server, held), daemon=True).start()
    return server


def _release_at_end(server: grpc.Server, held: SocketPath) -> None:
    # gRPC removes the socket at the path when it ends; until then nobody else may bind there.
    server.wait_for_termination()
    held.release()


def _serve(store: PrimaryStore, address: str,
           credentials: grpc.ServerCredentials | None) -> grpc.Server:
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=8),
                         options=[("grpc.so_reuseport", 0),
                                  # A message is inflated before its size is looked at. So
                                  # compressed calls get UNIMPLEMENTED.
                                  ("grpc.per_message_decompression", 0),
                                  ("grpc.compression_enabled_algorithms_bitset", 1)])
    primary_store_service_pb2_grpc.add_PrimaryStoreServiceServicer_to_server(store, server)
    if credentials is None:
        bound = server.add_insecure_port(address)
    else:
        bound = server.add_secure_port(address, credentials)
    if bound == 0:
        raise OSError(f"cannot listen on {address}")
    server.start()
    return server


def _judge(expired: pb.ExpiredItem, found: Item | None | str, now: int,
           not_after: int) -> pb.DeleteResult:
    """DELETED means that the item may be deleted."""
    if isinstance(found, str):
        return _result(pb.DELETE_OUTCOME_FAILED, reason=found)
    if found is None:
        return _result(pb.DELETE_OUTCOME_NOT_FOUND)
    if not _is_judged_version(expired, found):
        return _result(pb.DELETE_OUTCOME_MODIFIED, current=found.to_proto())
    # Without etags, a rewrite within the second of ts looks like the judged version. It is as old,
    # so it may go once our own clock says that this age is expired.
    if now < expired.expire_time * _SECOND:
        return _result(pb.DELETE_OUTCOME_NOT_EXPIRED)
    if now >= not_after:
        return _result(pb.DELETE_OUTCOME_THROTTLED)
    return _result(pb.DELETE_OUTCOME_DELETED)


def _is_judged_version(expired: pb.ExpiredItem, found: Item) -> bool:
    ttl = expired.ttl if expired.HasField("ttl") else None
    expire_at = expired.expire_at if expired.HasField("expire_at") else None
    return (found.ts == expired.ts and found.ttl == ttl and found.expire_at == expire_at
            and (not expired.etag or found.etag == expired.etag))


def _result(outcome: pb.DeleteOutcome, **fields) -> pb.DeleteResult:
    return pb.DeleteResult(outcome=outcome, **fields)


def _token_of(after: Key | None) -> bytes:
    """A place in a scan: the length of the partition key in two bytes, partition key, id."""
    if after is None:
        return b""
    return len(after.partition_key).to_bytes(2, "big") + after.partition_key + after.id


def _key_of(token: bytes, context) -> Key | None:
    if not token:
        return None
    end = 2 + int.from_bytes(token[:2], "big")
    if len(token) < max(2, end):
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "page_token is not of this store")
    return Key(token[2:end], token[end:])


def _timestamp(nanoseconds: int) -> timestamp_pb2.Timestamp:
    timestamp = timestamp_pb2.Timestamp()
    timestamp.FromNanoseconds(nanoseconds)
    return timestamp


def _duration(seconds: float) -> duration_pb2.Duration:
    duration = duration_pb2.Duration()
    duration.FromMilliseconds(round(seconds * 1000))
    return duration
