"""The asyncio client: the methods of Client, as coroutines and asynchronous iterators."""

from __future__ import annotations

import contextlib
import datetime
import types
from typing import Any, AsyncGenerator, AsyncIterable, Iterable, Mapping, Sequence, TypeVar

import grpc

from ttl.v1 import (
    clock_pb2, container_pb2, container_service_pb2, container_service_pb2_grpc,
    expiry_service_pb2, expiry_service_pb2_grpc, feed_pb2, feed_service_pb2, feed_service_pb2_grpc,
    hold_pb2, hold_service_pb2_grpc, item_pb2, item_service_pb2_grpc,
    maintenance_service_pb2, maintenance_service_pb2_grpc)
from ttl_sidecar import async_streams, calls, requests, values
from ttl_sidecar.async_calls import AsyncCalls
from ttl_sidecar.async_usage import AsyncUsageReporter
from ttl_sidecar.client import Client
from ttl_sidecar.requests import Call, Exchange, Page, Reply
from ttl_sidecar.values import (
    Answer, Check, Deletion, Item, Key, PlacedHold, Touched, TrackResult, UntrackResult)

T = TypeVar("T")
E = TypeVar("E")


class AsyncClient(requests.Stubs):
    """Client of one ttl-sidecar for asyncio. Its methods, deadlines, repeats and errors are those
    of Client; what Client returns is awaited here, and what it iterates over is an asynchronous
    iterator. Batches of a stream may come from either kind of iterable.

    A task that is cancelled while it waits ends its call, and CancelledError is what it gets.
    `interceptors` are those of grpc.aio. The stubs are of grpc.aio, too.

    To be made and used within one running event loop. An iterator that is left early ends its call
    with aclose(); see contextlib.aclosing().
    """

    item_service: item_service_pb2_grpc.ItemServiceAsyncStub
    container_service: container_service_pb2_grpc.ContainerServiceAsyncStub
    expiry_service: expiry_service_pb2_grpc.ExpiryServiceAsyncStub
    feed_service: feed_service_pb2_grpc.FeedServiceAsyncStub
    hold_service: hold_service_pb2_grpc.HoldServiceAsyncStub
    maintenance_service: maintenance_service_pb2_grpc.MaintenanceServiceAsyncStub

    def __init__(self, address: str = requests.DEFAULT_ADDRESS, *,
                 credentials: grpc.ChannelCredentials | None = None,
                 interceptors: Sequence[Any] = (), check_timeout: float = 1.0,
                 report_timeout: float = 5.0, admin_timeout: float = 15.0):
        self.address = address
        self._limits = requests.Limits(check_timeout, report_timeout, admin_timeout)
        self._calls = AsyncCalls(address, credentials, interceptors)
        super().__init__(self._calls.channel)
        self._usage = AsyncUsageReporter(self._report_usage_now)

    async def close(self) -> None:
        """Ends calls and streams under way with CANCELLED, which every later call gets, too."""
        self._usage.stop()
        await self._calls.close()
        await self._usage.join()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, exception_type: type[BaseException] | None,
                        exception: BaseException | None,
                        traceback: types.TracebackType | None) -> None:
        await self.close()

    # Data path. Any number of entries; they are sent in order, MAX_ENTRIES_PER_CALL at a time. The
    # first call that fails ends the method: what came before is applied.

    async def track(self, container: str, items: Iterable[Item],
                    adopted: bool = False) -> list[TrackResult]:
        return await self._run_all(requests.track(container, items, adopted))

    async def untrack(self, container: str, deletions: Iterable[Deletion]) -> list[UntrackResult]:
        return await self._run_all(requests.untrack(container, deletions))

    async def touch(self, container: str, keys: Iterable[Key], *,
                    unless_touched_within: int = 0) -> list[Touched]:
        return await self._run_all(requests.touch(container, keys, unless_touched_within))

    async def check(self, container: str, checks: Iterable[Check], *,
                    as_of: datetime.datetime | None = None) -> list[Answer]:
        return await self._run_all(requests.check(container, checks, as_of))

    def track_stream(
            self, container: str,
            batches: Iterable[Sequence[Item]] | AsyncIterable[Sequence[Item]]
    ) -> AsyncGenerator[Reply[TrackResult], None]:
        return self._exchange(requests.track_stream(container), batches)

    def check_stream(
            self, container: str,
            batches: Iterable[Sequence[Check]] | AsyncIterable[Sequence[Check]], *,
            as_of: datetime.datetime | None = None
    ) -> AsyncGenerator[Reply[Answer], None]:
        return self._exchange(requests.check_stream(container, as_of), batches)

    async def get_item(self, container: str, id: bytes,
                       partition_key: bytes = b"") -> item_pb2.ItemView:
        return await self._run(requests.get_item(container, id, partition_key))

    def list_items(self, container: str, *, show_expired: bool = False, expired_only: bool = False,
                   partition_key: bytes | None = None, expire_time_from: int | None = None,
                   expire_time_to: int | None = None, as_of: datetime.datetime | None = None
                   ) -> AsyncGenerator[item_pb2.ItemView, None]:
        return self._pages(requests.list_items(container, show_expired, expired_only, partition_key,
                                               expire_time_from, expire_time_to, as_of))

    def add_usage(self, container: str, request_units: float) -> None:
        if not calls.was_forked_after_use():
            self._usage.add(container, request_units)

    @property
    def usage_failures(self) -> int:
        return self._usage.tally.failures

    async def report_usage(self, container: str, request_units: float, *, period: float = 1.0,
                           reporter: str = "") -> None:
        await self._run(requests.report_usage(container, request_units, period, reporter))

    # Containers.

    async def create_container(
            self, id: str, default_ttl: int | None = None, *,
            indexing_mode: int | str | None = None,
            delete_policy: container_pb2.DeletePolicy | Mapping[str, Any] | None = None,
            show_held: bool = False, requires_holds: bool = False,
            feed: feed_pb2.FeedSettings | None = None, allow_touch: bool = False
    ) -> container_pb2.Container:
        return await self._run(requests.create_container(requests.new_container(
            id, default_ttl, indexing_mode, delete_policy, show_held, requires_holds, feed,
            allow_touch)))

    def preview_container(
            self, container: container_pb2.Container
    ) -> AsyncGenerator[maintenance_service_pb2.PreviewContainerResponse, None]:
        return self._download(requests.preview_container(container))

    async def get_container(self, id: str) -> container_pb2.Container:
        return await self._run(requests.get_container(id))

    def list_containers(self, *, id_prefix: str = "", ttl_on_only: bool = False
                        ) -> AsyncGenerator[container_pb2.Container, None]:
        return self._pages(requests.list_containers(id_prefix, ttl_on_only))

    async def update_container(self, container: container_pb2.Container, paths: Iterable[str], *,
                               force: bool = False) -> container_pb2.Container:
        return await self._run(requests.update_container(container, paths, force))

    async def preview_update(self, container: container_pb2.Container, paths: Iterable[str], *,
                             force: bool = False
                             ) -> container_service_pb2.UpdateContainerResponse:
        return await self._run(requests.preview_update(container, paths, force))

    async def set_default_ttl(self, id: str, default_ttl: int | None) -> container_pb2.Container:
        return await self._run(requests.set_default_ttl(id, default_ttl))

    async def delete_container(self, id: str, etag: str = "", *, force: bool = False) -> None:
        await self._run(requests.delete_container(id, etag, force))

    def watch_containers(
            self, heartbeat: float = 1.0, *, expire_at: bool = False, show_held: bool = False,
            touch: bool = False
    ) -> AsyncGenerator[container_service_pb2.WatchContainersResponse, None]:
        watch = requests.watch_containers(heartbeat, expire_at, show_held, touch)
        return async_streams.follow(watch.method(self), watch.request, watch.longest_silence,
                                    self._calls)

    # Operators: status, and what holds deletes back.

    async def status(self, container: str = "") -> expiry_service_pb2.GetExpiryStatusResponse:
        return await self._run(requests.status(container))

    def list_statuses(self) -> AsyncGenerator[expiry_service_pb2.ContainerExpiryStatus, None]:
        return self._pages(requests.list_statuses())

    async def explain_item(
            self, container: str, id: bytes, partition_key: bytes = b""
    ) -> expiry_service_pb2.ExplainItemResponse:
        return await self._run(requests.explain_item(container, id, partition_key))

    def list_stuck_items(
            self, container: str
    ) -> AsyncGenerator[expiry_service_pb2.StuckItem, None]:
        return self._pages(requests.list_stuck_items(container))

    async def forecast(
            self, container: str | None = None, *, until: datetime.datetime | None = None,
            step: int | None = None, default_ttl: int | None = None
    ) -> expiry_service_pb2.GetForecastResponse:
        return await self._run(requests.forecast(container, until, step, default_ttl))

    async def is_serving(self, health_service: str = "") -> bool:
        return await self._run(requests.is_serving(health_service))

    async def pause_deletes(self, reason: str, container: str | None = None, *,
                            all_containers: bool = False) -> expiry_service_pb2.PauseState:
        return await self._run(requests.pause_deletes(reason, container, all_containers))

    async def resume_deletes(self, container: str | None = None, *,
                             all_containers: bool = False) -> None:
        await self._run(requests.resume_deletes(container, all_containers))

    async def accept_clock(self) -> clock_pb2.ClockStatus:
        return await self._run(requests.accept_clock())

    async def confirm_policy(self, container: str, etag: str = "") -> container_pb2.Container:
        return await self._run(requests.confirm_policy(container, etag))

    async def confirm_store(self, store_id: str) -> None:
        await self._run(requests.confirm_store(store_id))

    async def set_max_deletes_per_second(self, limit: float | None) -> float | None:
        return await self._run(requests.set_max_deletes_per_second(limit))

    async def reset_max_deletes_per_second(self) -> float | None:
        return await self._run(requests.reset_max_deletes_per_second())

    # Holds, which keep expired items from being deleted (HoldService).

    async def place_hold(self, container: str, hold_id: str, reason: str, *,
                         keys: Iterable[Key] | None = None, partition_key: bytes | None = None,
                         all_items: bool = False,
                         until: datetime.datetime | None = None) -> PlacedHold:
        parts = requests.place_hold(container, hold_id, reason, keys, partition_key, all_items,
                                    until)
        return values.joined([await self._run(part) for part in parts])

    async def release_hold(self, container: str, hold_id: str) -> None:
        await self._run(requests.release_hold(container, hold_id))

    def list_holds(self, container: str = "") -> AsyncGenerator[hold_pb2.Hold, None]:
        return self._pages(requests.list_holds(container))

    def list_held_keys(self, container: str, hold_id: str) -> AsyncGenerator[Key, None]:
        return self._pages(requests.list_held_keys(container, hold_id))

    async def accept_holds(self, container: str) -> None:
        await self._run(requests.accept_holds(container))

    # The feed: what expires and what is deleted (FeedService).

    def watch_events(self, containers: Iterable[str], token: bytes = b"", *,
                     kinds: Iterable[int | str] = (), heartbeat: float = 1.0
                     ) -> AsyncGenerator[feed_service_pb2.WatchEventsResponse, None]:
        watch = requests.watch_events(containers, token, kinds, heartbeat)
        return async_streams.follow_events(watch.method(self), watch, self._calls)

    def watch_subscription(self, container: str, name: str, *, heartbeat: float = 1.0
                           ) -> AsyncGenerator[feed_service_pb2.WatchEventsResponse, None]:
        watch = requests.watch_subscription(container, name, heartbeat)
        return async_streams.follow_events(watch.method(self), watch, self._calls)

    async def acknowledge(self, container: str, name: str, epoch: int, sequence: int) -> int:
        return await self._run(requests.acknowledge(container, name, epoch, sequence))

    async def create_subscription(self, container: str, name: str, *,
                                  kinds: Iterable[int | str] = (), consumer: str = "",
                                  gate: bool = False, give_up_after: int | None = None
                                  ) -> feed_pb2.Subscription:
        return await self._run(requests.create_subscription(container, name, kinds, consumer, gate,
                                                            give_up_after))

    async def get_subscription(self, container: str, name: str) -> feed_pb2.Subscription:
        return await self._run(requests.get_subscription(container, name))

    def list_subscriptions(self, container: str = ""
                           ) -> AsyncGenerator[feed_pb2.Subscription, None]:
        return self._pages(requests.list_subscriptions(container))

    async def delete_subscription(self, container: str, name: str) -> None:
        await self._run(requests.delete_subscription(container, name))

    # Maintenance.

    async def start_reconciliation(
            self, container: str = "", *, dry_run: bool = False
    ) -> maintenance_service_pb2.Reconciliation:
        return await self._run(requests.start_reconciliation(container, dry_run))

    async def get_reconciliation(self) -> maintenance_service_pb2.Reconciliation:
        return await self._run(requests.get_reconciliation())

    async def cancel_reconciliation(self) -> maintenance_service_pb2.Reconciliation:
        return await self._run(requests.cancel_reconciliation())

    async def trust_data(self) -> None:
        await self._run(requests.trust_data())

    def verify_data(self) -> AsyncGenerator[maintenance_service_pb2.VerifyDataResponse, None]:
        return self._download(requests.verify_data())

    def back_up_data(self) -> AsyncGenerator[maintenance_service_pb2.BackUpDataResponse, None]:
        return self._download(requests.back_up_data())

    async def _run(self, call: Call[T]) -> T:
        with call.named_errors():
            return call.read(await self._calls.unary(call.method(self), call.request,
                                                     self._limits.of(call.limit), call.kind))

    async def _report_usage_now(self, request: expiry_service_pb2.ReportUsageRequest) -> None:
        await self._run(requests.report_usage_now(request))

    async def _run_all(self, parts: Iterable[Call[list[T]]]) -> list[T]:
        return [result for part in parts for result in await self._run(part)]

    async def _pages(self, call: Call[Page[T]] | None) -> AsyncGenerator[T, None]:
        while call is not None:
            page = await self._run(call)
            for entry in page.entries:
                yield entry
            call = page.next

    async def _exchange(self, exchange: Exchange[E, T],
                        batches: Iterable[Sequence[E]] | AsyncIterable[Sequence[E]]
                        ) -> AsyncGenerator[Reply[T], None]:
        responses = async_streams.exchange(
            exchange.method(self), batches, exchange.message, self._limits.of(exchange.limit),
            self._calls)
        async with contextlib.aclosing(responses):
            async for response in responses:
                yield exchange.reply(response)

    def _download(self, download: requests.Download) -> AsyncGenerator[Any, None]:
        return async_streams.download(download.method(self), download, self._calls)


for _name, _method in vars(Client).items():
    if not _name.startswith("_") and (callable(_method) or isinstance(_method, property)):
        getattr(AsyncClient, _name).__doc__ = _method.__doc__
