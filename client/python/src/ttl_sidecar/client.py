"""The client: reports, checks, containers and status."""

from __future__ import annotations

import types
from typing import Callable, Iterable, Iterator, Sequence, TypeVar

import grpc
from google.protobuf import duration_pb2, field_mask_pb2

from ttl.v1 import (
    container_pb2, container_service_pb2, container_service_pb2_grpc, expiry_service_pb2,
    expiry_service_pb2_grpc, item_pb2, item_service_pb2, item_service_pb2_grpc,
    maintenance_service_pb2_grpc)
from ttl_sidecar import errors, streams, values
from ttl_sidecar.calls import Calls
from ttl_sidecar.errors import SidecarError
from ttl_sidecar.repeats import Kind
from ttl_sidecar.streams import Reply
from ttl_sidecar.time_limits import require_time_limit
from ttl_sidecar.values import Answer, Check, Deletion, Item, TrackResult, UntrackResult

DEFAULT_ADDRESS = "unix:/run/ttl-sidecar/sidecar.sock"
MAX_ENTRIES_PER_CALL = 1000

T = TypeVar("T")


class Client:
    """Client of one ttl-sidecar. Every failure of a call is a SidecarError; a value that its field
    cannot take is a TypeError or a ValueError, and nothing is sent.

    Every call has a deadline, repeats included: `check_timeout` for checks and look-ups of one
    item, `report_timeout` for reports, `admin_timeout` for the rest; in seconds, of any size. On
    streams it is the time until a message is answered. Until then a call waits for a sidecar that
    is away or restarts: reads, and reports in which every entry has a sequence, are sent again when
    their fate is not known; other reports when the sidecar refused them; changes, and usage, only
    if nothing was sent. Reports that its full queue refused have 4 attempts. A stream that breaks
    is an error: what was answered on it stands.

    Items, checks and answers are values of this package, containers and status the messages of
    ttl.v1. `item_service`, `container_service`, `expiry_service` and `maintenance_service` are the
    generated stubs, for whatever has no method here: no deadline, no repeats, gRPC's own errors.

    Thread-safe. Connects with the first call, and again when the connection is lost. gRPC does not
    survive a fork: in a child of the process in which it was made a client fails with
    FAILED_PRECONDITION, and so does making another there.
    """

    def __init__(self, address: str = DEFAULT_ADDRESS, *,
                 credentials: grpc.ChannelCredentials | None = None, check_timeout: float = 1.0,
                 report_timeout: float = 5.0, admin_timeout: float = 15.0):
        self.address = address
        self._check_timeout = require_time_limit("check_timeout", check_timeout)
        self._report_timeout = require_time_limit("report_timeout", report_timeout)
        self._admin_timeout = require_time_limit("admin_timeout", admin_timeout)
        self._calls = Calls(address, credentials)
        channel = self._calls.channel
        self.item_service = item_service_pb2_grpc.ItemServiceStub(channel)
        self.container_service = container_service_pb2_grpc.ContainerServiceStub(channel)
        self.expiry_service = expiry_service_pb2_grpc.ExpiryServiceStub(channel)
        self.maintenance_service = maintenance_service_pb2_grpc.MaintenanceServiceStub(channel)

    def close(self) -> None:
        """Ends calls and streams under way with CANCELLED, which every later call gets, too."""
        self._calls.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, exception_type: type[BaseException] | None, exception: BaseException | None,
                 traceback: types.TracebackType | None) -> None:
        self.close()

    # Data path. Any number of entries; they are sent in order, MAX_ENTRIES_PER_CALL at a time. The
    # first call that fails ends the method: what came before is applied.

    def track(self, container: str, items: Iterable[Item],
              adopted: bool = False) -> list[TrackResult]:
        """Reports writes; durable when it returns. One result per item. `adopted`: the store has
        had them all along, so what is due already waits for a grace (TrackItemsRequest.adopted)."""
        def send(part: list[Item]) -> list[TrackResult]:
            request = _track_request(container, part)
            request.adopted = adopted
            response = self._report(self.item_service.TrackItems, request, part)
            return values.track_results(response, len(part))
        return _in_parts(list(items), send)

    def untrack(self, container: str, deletions: Iterable[Deletion]) -> list[UntrackResult]:
        """Reports deletes that the store made by itself; durable when it returns."""
        def send(part: list[Deletion]) -> list[UntrackResult]:
            request = item_service_pb2.UntrackItemsRequest(
                container=container, items=[deletion.to_proto() for deletion in part])
            response = self._report(self.item_service.UntrackItems, request, part)
            return values.untrack_results(response, len(part))
        return _in_parts(list(deletions), send)

    def check(self, container: str, checks: Iterable[Check]) -> list[Answer]:
        """Which items are visible now? One answer per check."""
        def send(part: list[Check]) -> list[Answer]:
            request = _check_request(container, part)
            response = self._call(self.item_service.CheckVisibility, request, self._check_timeout,
                                  Kind.READ)
            return values.answers(response, len(part))
        return _in_parts(list(checks), send)

    def track_stream(self, container: str,
                     batches: Iterable[Sequence[Item]]) -> Iterator[Reply[TrackResult]]:
        """Reports batches of up to 1000 over one stream; yields a reply for each, in order. A
        batch that was not replied to when the stream broke may have been applied or not."""
        return self._exchange(self.item_service.StreamTrackItems,
                              item_service_pb2.StreamTrackItemsRequest, _track_request,
                              values.track_results, container, batches, self._report_timeout)

    def check_stream(self, container: str,
                     batches: Iterable[Sequence[Check]]) -> Iterator[Reply[Answer]]:
        """Judges batches of up to 10000 over one stream; yields a reply for each, in order."""
        return self._exchange(self.item_service.StreamCheckVisibility,
                              item_service_pb2.StreamCheckVisibilityRequest, _check_request,
                              values.answers, container, batches, self._check_timeout)

    def get_item(self, container: str, id: bytes, partition_key: bytes = b"") -> item_pb2.ItemView:
        """NOT_FOUND if the item is expired or not tracked."""
        values.require_key(id, partition_key)
        request = item_service_pb2.GetItemRequest(container=container, partition_key=partition_key,
                                                  id=id)
        return self._call(self.item_service.GetItem, request, self._check_timeout, Kind.READ).item

    def list_items(self, container: str, *,
                   show_expired: bool = False) -> Iterator[item_pb2.ItemView]:
        """All items in the order of (length of partition key, partition key, id)."""
        request = item_service_pb2.ListItemsRequest(container=container, show_expired=show_expired)
        return self._pages(self.item_service.ListItems, request, "items")

    # Containers.

    def create_container(self, id: str, default_ttl: int | None = None,
                         **fields) -> container_pb2.Container:
        """`fields`: further fields of ttl.v1.Container. ALREADY_EXISTS if there is one."""
        values.require_seconds("default_ttl", default_ttl)
        container = container_pb2.Container(id=id, default_ttl=default_ttl, **fields)
        request = container_service_pb2.CreateContainerRequest(container=container)
        return self._change(self.container_service.CreateContainer, request).container

    def get_container(self, id: str) -> container_pb2.Container:
        request = container_service_pb2.GetContainerRequest(id=id)
        return self._read(self.container_service.GetContainer, request).container

    def list_containers(self) -> Iterator[container_pb2.Container]:
        request = container_service_pb2.ListContainersRequest()
        return self._pages(self.container_service.ListContainers, request, "containers")

    def update_container(self, container: container_pb2.Container,
                         paths: Iterable[str]) -> container_pb2.Container:
        """Sets the fields named in `paths`; one that is absent in `container` is removed."""
        request = container_service_pb2.UpdateContainerRequest(
            container=container, update_mask=field_mask_pb2.FieldMask(paths=paths))
        return self._change(self.container_service.UpdateContainer, request).container

    def set_default_ttl(self, id: str, default_ttl: int | None) -> container_pb2.Container:
        """Acts on all items of the container at once. None switches TTL off."""
        values.require_seconds("default_ttl", default_ttl)
        container = container_pb2.Container(id=id, default_ttl=default_ttl)
        return self.update_container(container, ["default_ttl"])

    def delete_container(self, id: str, etag: str = "") -> None:
        request = container_service_pb2.DeleteContainerRequest(id=id, etag=etag)
        self._change(self.container_service.DeleteContainer, request)

    def watch_containers(
            self, heartbeat: float = 1.0, *, expire_at: bool = False
    ) -> Iterator[container_service_pb2.WatchContainersResponse]:
        """A snapshot of all containers, then every change. DEADLINE_EXCEEDED after a silence of
        five heartbeats (in seconds). `expire_at`: the caller, if it judges items by what it is told,
        knows expire_at; otherwise containers with such items are left out."""
        longest_silence = require_time_limit("heartbeat", 5 * heartbeat)
        interval = duration_pb2.Duration()
        interval.FromMilliseconds(round(longest_silence / 5 * 1000))
        rules = [container_service_pb2.JUDGING_RULE_EXPIRE_AT] if expire_at else []
        request = container_service_pb2.WatchContainersRequest(heartbeat_interval=interval,
                                                               rules=rules)
        return streams.follow(self.container_service.WatchContainers, request, longest_silence,
                              self._calls)

    # Expiry.

    def status(self, container: str = "") -> expiry_service_pb2.GetExpiryStatusResponse:
        """The status of the sidecar and, if one is named, of a container."""
        request = expiry_service_pb2.GetExpiryStatusRequest(container=container)
        return self._read(self.expiry_service.GetExpiryStatus, request)

    def list_statuses(self) -> Iterator[expiry_service_pb2.ContainerExpiryStatus]:
        request = expiry_service_pb2.ListExpiryStatusesRequest()
        return self._pages(self.expiry_service.ListExpiryStatuses, request, "containers")

    def explain_item(self, container: str, id: bytes,
                     partition_key: bytes = b"") -> expiry_service_pb2.ExplainItemResponse:
        """All that is known of an item, expired or not, and why it is not yet deleted."""
        values.require_key(id, partition_key)
        request = expiry_service_pb2.ExplainItemRequest(container=container, id=id,
                                                        partition_key=partition_key)
        return self._read(self.expiry_service.ExplainItem, request)

    def pause_deletes(self, reason: str,
                      container: str | None = None) -> expiry_service_pb2.PauseState:
        """Of one container, or of all."""
        request = expiry_service_pb2.PauseDeletesRequest(reason=reason, **_target(container))
        return self._change(self.expiry_service.PauseDeletes, request).pause

    def resume_deletes(self, container: str | None = None) -> None:
        """Lifts a pause of the same target."""
        request = expiry_service_pb2.ResumeDeletesRequest(**_target(container))
        self._change(self.expiry_service.ResumeDeletes, request)

    def report_usage(self, container: str, request_units: float, *, period: float = 1.0,
                     reporter: str = "") -> None:
        """What requests have used in the last `period` seconds; to be told once a second."""
        request = expiry_service_pb2.ReportUsageRequest(
            container=container, request_units=request_units, reporter=reporter)
        request.period.FromMilliseconds(round(period * 1000))
        self._call(self.expiry_service.ReportUsage, request, self._report_timeout, Kind.CHANGE)

    def _report(self, method, request, entries: Sequence):
        is_ordered = all(entry.sequence is not None for entry in entries)
        kind = Kind.ORDERED_REPORT if is_ordered else Kind.REPORT
        return self._call(method, request, self._report_timeout, kind)

    def _call(self, method, request, timeout: float, kind: Kind):
        return self._calls.unary(method, request, timeout, kind)

    def _read(self, method, request):
        return self._call(method, request, self._admin_timeout, Kind.READ)

    def _change(self, method, request):
        return self._call(method, request, self._admin_timeout, Kind.CHANGE)

    def _pages(self, method, request, field: str) -> Iterator:
        while True:
            response = self._read(method, request)
            yield from getattr(response, field)
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token

    def _exchange(self, method, message, make_request, read_response, container: str,
                  batches: Iterable[Sequence], timeout: float) -> Iterator[Reply]:
        sizes: list[int] = []  # of the batches not replied to yet, oldest first

        def requests():
            for batch in batches:
                sizes.append(len(batch))
                yield message(request=make_request(container, batch))

        for response in streams.exchange(method, requests(), timeout, self._calls):
            size = sizes.pop(0)
            if response.HasField("error"):
                yield Reply(None, errors.from_message(response.error))
            else:
                yield Reply(read_response(response.response, size))


def _track_request(container: str, items: Iterable[Item]) -> item_service_pb2.TrackItemsRequest:
    return item_service_pb2.TrackItemsRequest(container=container,
                                              items=[item.to_proto() for item in items])


def _check_request(container: str,
                   checks: Iterable[Check]) -> item_service_pb2.CheckVisibilityRequest:
    return item_service_pb2.CheckVisibilityRequest(container=container,
                                                   checks=[check.to_proto() for check in checks])


def _target(container: str | None) -> dict:
    return {"all_containers": True} if container is None else {"container": container}


def _in_parts(entries: list, send: Callable[[list], list[T]]) -> list[T]:
    """Sends `entries` a part at a time. The error of one part of several says which."""
    results: list[T] = []
    for first in range(0, len(entries), MAX_ENTRIES_PER_CALL):
        part = entries[first:first + MAX_ENTRIES_PER_CALL]
        try:
            results += send(part)
        except SidecarError as error:
            if len(part) == len(entries):
                raise
            raise error.about(f"entries {first} to {first + len(part) - 1}") from error
    return results
