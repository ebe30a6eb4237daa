"""What the sidecar may delete from a store, and how it walks through one: the rules of every store.

Pure: PrimaryStore and AsyncPrimaryStore call their store's methods, each in its own way.
"""

from __future__ import annotations

import abc
import time
from typing import Any, Sequence

import grpc
from google.protobuf import duration_pb2, timestamp_pb2

from ttl.v1 import primary_store_service_pb2 as pb
from ttl_sidecar.values import Item, Key

_SECOND = 1_000_000_000
# With the longest keys they still fit into one message.
_MAX_SCANNED_AT_ONCE = 500
# Limit of the API for next_page_token.
_MAX_TOKEN_BYTES = 4096

# What read() gave, or why the item could not be read.
Found = Item | str | None


class StoreBusy(Exception):
    """Raised by a store that has no capacity for deletes now: all of the batch is answered
    THROTTLED, and none is sent for this container for `retry_after` seconds, at most an hour."""

    def __init__(self, retry_after: float):
        super().__init__(f"busy for {retry_after:g} s")
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.retry_after,)


class Refusal(Exception):
    """A request that is answered with an error."""

    def __init__(self, code: grpc.StatusCode, message: str):
        super().__init__(message)
        self.code = code
        self.message = message


class StoreFeatures(abc.ABC):
    """What every store says of itself."""

    # Most items that the sidecar is asked to send at once; further ones are put off. 0: no limit.
    max_batch_items = 1000

    # Whether read() and scan() give the expire_at of items that have one. Until then the sidecar
    # deletes no item with an expire_at.
    knows_expire_at = False

    @property
    @abc.abstractmethod
    def store_id(self) -> str:
        """Identity of the data: the same after restarts, different after a restore elsewhere."""

    def now_ns(self) -> int:
        """The clock that stamps ts, in nanoseconds since 1970."""
        return time.time_ns()


def store_info(store: StoreFeatures, can_scan: bool) -> pb.GetStoreInfoResponse:
    capabilities = [pb.STORE_CAPABILITY_ETAG]
    if can_scan:
        capabilities.append(pb.STORE_CAPABILITY_SCAN)
    if store.knows_expire_at:
        capabilities.append(pb.STORE_CAPABILITY_EXPIRE_AT)
    return pb.GetStoreInfoResponse(
        store_id=store.store_id, now=_timestamp(store.now_ns()),
        max_batch_items=store.max_batch_items, capabilities=capabilities)


class Batch:
    """One request for deletes: which items are judged, what becomes of them, and the answer."""

    def __init__(self, store: StoreFeatures, request: pb.DeleteItemsRequest):
        """Raises a Refusal."""
        if not request.HasField("not_after") or not request.items:
            raise Refusal(grpc.StatusCode.INVALID_ARGUMENT,
                          "not_after and at least one of items are required")
        # The sidecar may have known another store at this address.
        if request.store_id not in ("", store.store_id):
            raise Refusal(grpc.StatusCode.FAILED_PRECONDITION,
                          f"store_id is {request.store_id!r}: this store is {store.store_id!r}")
        self._store = store
        self._request = request
        # The sidecar sends more than the store takes at once if it asked for the limit before the
        # store was started again with a lower one.
        most = store.max_batch_items if store.max_batch_items > 0 else len(request.items)
        self._judged = request.items[:most]
        self._results: list[pb.DeleteResult] = []
        self.keys = [Key(item.partition_key, item.id) for item in self._judged]

    def judge(self, stored: Sequence[Found]) -> list[Key]:
        """The keys to delete, given what is stored under `keys`. To be called, as the delete, while
        nobody rewrites them."""
        now = self._store.now_ns()
        not_after = self._request.not_after.ToNanoseconds()
        to_delete: dict[Key, None] = {}
        for item, key, found in zip(self._judged, self.keys, stored, strict=True):
            result = _judge(item, found, now, not_after)
            if result.outcome == pb.DELETE_OUTCOME_DELETED and key in to_delete:
                result = _result(pb.DELETE_OUTCOME_NOT_FOUND)  # the key came twice
            elif result.outcome == pb.DELETE_OUTCOME_DELETED:
                to_delete[key] = None
            self._results.append(result)
        return list(to_delete)

    def response(self) -> pb.DeleteItemsResponse:
        """Once what judge() returned has been deleted."""
        return self._respond(self._results)

    def busy_response(self, busy: StoreBusy) -> pb.DeleteItemsResponse:
        response = self._respond([])
        response.retry_after.CopyFrom(_duration(busy.retry_after))
        return response

    def _respond(self, results: list[pb.DeleteResult]) -> pb.DeleteItemsResponse:
        left = len(self._request.items) - len(results)
        return pb.DeleteItemsResponse(
            results=[*results, *[_result(pb.DELETE_OUTCOME_THROTTLED)] * left],
            store_now=_timestamp(self._store.now_ns()))


class Scan:
    """One walk through the items of a container, a message at a time."""

    def __init__(self, request: pb.ScanItemsRequest, can_scan: bool):
        """Raises a Refusal."""
        if not can_scan:
            raise Refusal(grpc.StatusCode.UNIMPLEMENTED, "this store does not scan")
        self.after = _key_of(request.page_token)
        self._left = request.max_items
        if self._left < 1:
            raise Refusal(grpc.StatusCode.INVALID_ARGUMENT,
                          f"max_items = {self._left}: at least 1")

    @property
    def limit(self) -> int:
        """Items to ask the store for, behind `after`; 0 at the end."""
        return min(self._left, _MAX_SCANNED_AT_ONCE)

    def message(self, items: Sequence[Item]) -> pb.ScanItemsResponse:
        """The message with what the store gave. Raises a Refusal if the walk cannot go on."""
        limit = self.limit
        if len(items) > limit:
            raise _internal(f"scan() gave {len(items)} items: at most {limit} were asked for")
        last = items[-1].key if len(items) == limit else None
        if last is not None and last == self.after:
            raise _internal("scan() gave the item that it was to start behind")
        message = pb.ScanItemsResponse(items=[item.to_proto() for item in items],
                                       next_page_token=_token_of(last))
        self.after = last
        self._left = 0 if last is None else self._left - limit
        return message


def as_found(value: object) -> Found:
    """What read() gave."""
    if value is None or isinstance(value, Item):
        return value
    return f"the item cannot be read: read() gave a {type(value).__name__}"


def as_failure(error: Exception) -> Found:
    """What read() raised. One item that cannot be read must not hold up the others; a busy store
    does."""
    if isinstance(error, StoreBusy):
        raise error
    return f"the item cannot be read: {type(error).__name__}"


def _judge(item: pb.ExpiredItem, found: Found, now: int, not_after: int) -> pb.DeleteResult:
    """DELETED means that the item may be deleted."""
    if isinstance(found, str):
        return _result(pb.DELETE_OUTCOME_FAILED, reason=found)
    if found is None:
        return _result(pb.DELETE_OUTCOME_NOT_FOUND)
    if not _is_judged_version(item, found):
        return _result(pb.DELETE_OUTCOME_MODIFIED, current=found.to_proto())
    # Without etags, a rewrite within the second of ts looks like the judged version. It is as old,
    # so it may go once our own clock says that this age is expired.
    if now < item.expire_time * _SECOND:
        return _result(pb.DELETE_OUTCOME_NOT_EXPIRED)
    if now >= not_after:
        return _result(pb.DELETE_OUTCOME_THROTTLED)
    return _result(pb.DELETE_OUTCOME_DELETED)


def _is_judged_version(item: pb.ExpiredItem, found: Item) -> bool:
    ttl = item.ttl if item.HasField("ttl") else None
    expire_at = item.expire_at if item.HasField("expire_at") else None
    return (found.ts == item.ts and found.ttl == ttl and found.expire_at == expire_at
            and (not item.etag or found.etag == item.etag))


def _result(outcome: pb.DeleteOutcome, **fields: Any) -> pb.DeleteResult:
    return pb.DeleteResult(outcome=outcome, **fields)


def _internal(message: str) -> Refusal:
    return Refusal(grpc.StatusCode.INTERNAL, message)


def _token_of(after: Key | None) -> bytes:
    """A place in a scan: the length of the partition key in two bytes, partition key, id."""
    if after is None:
        return b""
    partition_key, id = after
    if 2 + len(partition_key) + len(id) > _MAX_TOKEN_BYTES:
        raise _internal(
            f"scan() gave an item with a partition key of {len(partition_key)} bytes and an id of "
            f"{len(id)} bytes: together they must be at most {_MAX_TOKEN_BYTES - 2} bytes for the "
            "scan to go on behind it")
    return len(partition_key).to_bytes(2, "big") + partition_key + id


def _key_of(token: bytes) -> Key | None:
    if not token:
        return None
    end = 2 + int.from_bytes(token[:2], "big")
    if len(token) < max(2, end):
        raise Refusal(grpc.StatusCode.INVALID_ARGUMENT, "page_token is not of this store")
    return Key(token[2:end], token[end:])


def _timestamp(nanoseconds: int) -> timestamp_pb2.Timestamp:
    timestamp = timestamp_pb2.Timestamp()
    timestamp.FromNanoseconds(nanoseconds)
    return timestamp


def _duration(seconds: float) -> duration_pb2.Duration:
    duration = duration_pb2.Duration()
    duration.FromMilliseconds(round(seconds * 1000))
    return duration
