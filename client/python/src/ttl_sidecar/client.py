"""The client: reports, checks, containers and status."""

from __future__ import annotations

import datetime
import types
from typing import Any, Iterable, Iterator, Mapping, Sequence, TypeVar

import grpc

from ttl.v1 import (
    clock_pb2, container_pb2, container_service_pb2, container_service_pb2_grpc,
    expiry_service_pb2, expiry_service_pb2_grpc, feed_pb2, feed_service_pb2, feed_service_pb2_grpc,
    hold_pb2, hold_service_pb2_grpc, item_pb2, item_service_pb2_grpc,
    maintenance_service_pb2, maintenance_service_pb2_grpc)
from ttl_sidecar import calls, requests, streams, values
from ttl_sidecar.requests import Call, Exchange, Page, Reply
from ttl_sidecar.usage import UsageReporter
from ttl_sidecar.values import (
    Answer, Check, Deletion, Item, Key, PlacedHold, Touched, TrackResult, UntrackResult)

T = TypeVar("T")
E = TypeVar("E")


class Client(requests.Stubs):
    """Client of one ttl-sidecar. Every failure of a call is a SidecarError; a value that its field
    cannot take is a TypeError or a ValueError, and nothing is sent.

    Every call has a deadline, repeats included: `check_timeout` for checks and look-ups of one
    item, `report_timeout` for reports, `admin_timeout` for other calls; in seconds. On streams it
    is the time until a message is answered. Until then a call waits for a sidecar that is away or
    restarts: reads, holds, acknowledgements, touches, and reports in which every entry has a
    sequence, are sent again when their fate is not known; other reports when the sidecar refused
    them; changes, and usage, only if nothing was sent. Reports and touches that its full queue
    refused have 4 attempts. A stream that breaks is an error, except of events. Messages that were
    answered have taken effect.

    Items, checks and answers are values of this package, containers and status the messages of
    ttl.v1. `item_service`, `container_service`, `expiry_service`, `feed_service`, `hold_service`
    and `maintenance_service` are the generated stubs, for whatever has no method here: no deadline,
    no repeats, gRPC's own errors.

    `interceptors` are gRPC's (grpc.UnaryUnaryClientInterceptor and its like), the first one
    outermost. They see every attempt of a call, every stream, and the reports of usage.

    Thread-safe. Connects with the first call, and again when the connection is lost. gRPC does not
    survive a fork: in a child of the process in which it was made a client fails with
    FAILED_PRECONDITION, and so does making another there.
    """

    item_service: item_service_pb2_grpc.ItemServiceStub
    container_service: container_service_pb2_grpc.ContainerServiceStub
    expiry_service: expiry_service_pb2_grpc.ExpiryServiceStub
    feed_service: feed_service_pb2_grpc.FeedServiceStub
    hold_service: hold_service_pb2_grpc.HoldServiceStub
    maintenance_service: maintenance_service_pb2_grpc.MaintenanceServiceStub

    def __init__(self, address: str = requests.DEFAULT_ADDRESS, *,
                 credentials: grpc.ChannelCredentials | None = None,
                 interceptors: Sequence[Any] = (), check_timeout: float = 1.0,
                 report_timeout: float = 5.0, admin_timeout: float = 15.0):
        self.address = address
        self._limits = requests.Limits(check_timeout, report_timeout, admin_timeout)
        self._calls = calls.Calls(address, credentials, interceptors)
        super().__init__(self._calls.channel)
        self._usage = UsageReporter(lambda request: self._run(requests.report_usage_now(request)))

    def close(self) -> None:
        """Ends calls and streams under way with CANCELLED, which every later call gets, too."""
        self._usage.stop()
        self._calls.close()
        self._usage.join()

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
        return self._run_all(requests.track(container, items, adopted))

    def untrack(self, container: str, deletions: Iterable[Deletion]) -> list[UntrackResult]:
        """Reports deletes that the store made by itself; durable when it returns."""
        return self._run_all(requests.untrack(container, deletions))

    def touch(self, container: str, keys: Iterable[Key], *,
              unless_touched_within: int = 0) -> list[Touched]:
        """Starts the countdown of items again, as of now, without a write in the store; durable
        when it returns. One answer per key. Items whose countdown has started within
        `unless_touched_within` seconds are left alone. FAILED_PRECONDITION unless the container has
        allow_touch. A touch that is repeated after a lost answer may say RECENT."""
        return self._run_all(requests.touch(container, keys, unless_touched_within))

    def check(self, container: str, checks: Iterable[Check], *,
              as_of: datetime.datetime | None = None) -> list[Answer]:
        """Which items are visible now? One answer per check. `as_of`: then, instead of now, so that
        several calls of one query agree; usually `judged_at` of the first answer, at most an hour
        back (CheckVisibilityRequest.as_of)."""
        return self._run_all(requests.check(container, checks, as_of))

    def track_stream(self, container: str,
                     batches: Iterable[Sequence[Item]]) -> Iterator[Reply[TrackResult]]:
        """Reports batches of up to 1000 over one stream; yields a reply for each, in order. A
        batch that was not replied to when the stream broke may have been applied or not."""
        return self._exchange(requests.track_stream(container), batches)

    def check_stream(self, container: str, batches: Iterable[Sequence[Check]], *,
                     as_of: datetime.datetime | None = None) -> Iterator[Reply[Answer]]:
        """Judges batches of up to 10000 over one stream, as check() does; yields a reply for each,
        in order."""
        return self._exchange(requests.check_stream(container, as_of), batches)

    def get_item(self, container: str, id: bytes, partition_key: bytes = b"") -> item_pb2.ItemView:
        """NOT_FOUND if the item is expired or not tracked."""
        return self._run(requests.get_item(container, id, partition_key))

    def list_items(self, container: str, *, show_expired: bool = False, expired_only: bool = False,
                   partition_key: bytes | None = None, expire_time_from: int | None = None,
                   expire_time_to: int | None = None,
                   as_of: datetime.datetime | None = None) -> Iterator[item_pb2.ItemView]:
        """The items in the order of (length of partition key, partition key, id): live ones, with
        `show_expired` also expired ones, with `expired_only` only these. Only those of
        `partition_key`, and those that expire from `expire_time_from` on and before
        `expire_time_to`, as far as these are given. All pages are judged as of `as_of`, or as of
        the time of the first."""
        return self._pages(requests.list_items(container, show_expired, expired_only, partition_key,
                                               expire_time_from, expire_time_to, as_of))

    def add_usage(self, container: str, request_units: float) -> None:
        """Adds to what requests have used of the container's throughput; to be called for every
        request that the store serves. Does not block. The sum is reported in the background once a
        second, from the first use on also if it is zero. Never fails: what could not be reported is
        added to the next report, and `usage_failures` counts it. Usage after close() is not
        counted."""
        if not calls.was_forked_after_use():
            self._usage.add(container, request_units)

    @property
    def usage_failures(self) -> int:
        """Reports of add_usage() that the sidecar did not take."""
        return self._usage.tally.failures

    def report_usage(self, container: str, request_units: float, *, period: float = 1.0,
                     reporter: str = "") -> None:
        """What requests have used in the last `period` seconds, reported immediately; to have usage
        summed up, call add_usage()."""
        self._run(requests.report_usage(container, request_units, period, reporter))

    # Containers.

    def create_container(self, id: str, default_ttl: int | None = None, *,
                         indexing_mode: int | str | None = None,
                         delete_policy: container_pb2.DeletePolicy | Mapping[str, Any] | None = None,
                         show_held: bool = False, requires_holds: bool = False,
                         feed: feed_pb2.FeedSettings | None = None,
                         allow_touch: bool = False) -> container_pb2.Container:
        """ALREADY_EXISTS if there is one. `indexing_mode` is one of container_pb2 or its name.
        `show_held`: expired items under a hold stay visible. `requires_holds`: nothing is deleted
        before accept_holds(). `feed`: what expires can be read by watch_events(); FeedSettings()
        has its defaults. `allow_touch`: its items may be touched; see touch()."""
        return self._run(requests.create_container(requests.new_container(
            id, default_ttl, indexing_mode, delete_policy, show_held, requires_holds, feed,
            allow_touch)))

    def preview_container(
            self, container: container_pb2.Container
    ) -> Iterator[maintenance_service_pb2.PreviewContainerResponse]:
        """What creating it would do to the items of the store; the last message has `finished`
        set. Without a deadline: it lasts as long as there are items to read."""
        return self._download(requests.preview_container(container))

    def get_container(self, id: str) -> container_pb2.Container:
        return self._run(requests.get_container(id))

    def list_containers(self, *, id_prefix: str = "",
                        ttl_on_only: bool = False) -> Iterator[container_pb2.Container]:
        """Those whose id begins with `id_prefix`, in the order of ids; with `ttl_on_only` only
        those that have a default_ttl."""
        return self._pages(requests.list_containers(id_prefix, ttl_on_only))

    def update_container(self, container: container_pb2.Container, paths: Iterable[str], *,
                         force: bool = False) -> container_pb2.Container:
        """Sets the fields named in `paths`; one that is absent in `container` is removed. `force`:
        also indexing mode NONE while holds stand, and no feed while it has subscriptions."""
        return self._run(requests.update_container(container, paths, force))

    def preview_update(self, container: container_pb2.Container, paths: Iterable[str], *,
                       force: bool = False) -> container_service_pb2.UpdateContainerResponse:
        """What update_container() would do. Nothing is changed."""
        return self._run(requests.preview_update(container, paths, force))

    def set_default_ttl(self, id: str, default_ttl: int | None) -> container_pb2.Container:
        """Acts on all items of the container at once. None switches TTL off."""
        return self._run(requests.set_default_ttl(id, default_ttl))

    def delete_container(self, id: str, etag: str = "", *, force: bool = False) -> None:
        """ABORTED if `etag` is neither empty nor the current one. `force`: also while holds stand
        or the feed has subscriptions, which are deleted with it."""
        self._run(requests.delete_container(id, etag, force))

    def watch_containers(
            self, heartbeat: float = 1.0, *, expire_at: bool = False, show_held: bool = False,
            touch: bool = False
    ) -> Iterator[container_service_pb2.WatchContainersResponse]:
        """A snapshot of all containers, then every change. DEADLINE_EXCEEDED after a silence of
        five heartbeats (in seconds). `expire_at`: the caller evaluates expire_at; if false,
        containers with such items are omitted. `show_held`, `touch`: the caller checks items that
        are expired in containers with show_held, or that have or had allow_touch; if false, these
        are omitted."""
        watch = requests.watch_containers(heartbeat, expire_at, show_held, touch)
        return streams.follow(watch.method(self), watch.request, watch.longest_silence, self._calls)

    # Operators: status, and what holds deletes back.

    def status(self, container: str = "") -> expiry_service_pb2.GetExpiryStatusResponse:
        """The status of the sidecar and, if one is named, of a container."""
        return self._run(requests.status(container))

    def list_statuses(self) -> Iterator[expiry_service_pb2.ContainerExpiryStatus]:
        return self._pages(requests.list_statuses())

    def explain_item(self, container: str, id: bytes,
                     partition_key: bytes = b"") -> expiry_service_pb2.ExplainItemResponse:
        """All that is known of an item, expired or not, and why it is not yet deleted."""
        return self._run(requests.explain_item(container, id, partition_key))

    def list_stuck_items(self, container: str) -> Iterator[expiry_service_pb2.StuckItem]:
        """Items whose delete has failed."""
        return self._pages(requests.list_stuck_items(container))

    def forecast(self, container: str | None = None, *, until: datetime.datetime | None = None,
                 step: int | None = None,
                 default_ttl: int | None = None) -> expiry_service_pb2.GetForecastResponse:
        """How many items of one container, or of all, will expire until `until`, in steps of `step`
        seconds, and when the backlog will be deleted: for a day, in 24 steps, if not given.
        `default_ttl`: as if it were that of the one container. Nothing is changed."""
        return self._run(requests.forecast(container, until, step, default_ttl))

    def is_serving(self, health_service: str = "") -> bool:
        """Whether a service of the sidecar's health service is SERVING: "startup", "readiness",
        "liveness", or "" for the whole server. NOT_FOUND for a name that it does not know. Does
        not wait for a sidecar that is away."""
        return self._run(requests.is_serving(health_service))

    def pause_deletes(self, reason: str, container: str | None = None, *,
                      all_containers: bool = False) -> expiry_service_pb2.PauseState:
        """Of one container, or of all with `all_containers`; TypeError unless one of them is given.
        """
        return self._run(requests.pause_deletes(reason, container, all_containers))

    def resume_deletes(self, container: str | None = None, *,
                       all_containers: bool = False) -> None:
        """Lifts the pause of the same target, given as to pause_deletes()."""
        self._run(requests.resume_deletes(container, all_containers))

    def accept_clock(self) -> clock_pb2.ClockStatus:
        """Declares the wall clock correct."""
        return self._run(requests.accept_clock())

    def confirm_policy(self, container: str, etag: str = "") -> container_pb2.Container:
        """Releases the brake. ABORTED if `etag` is neither empty nor the current one."""
        return self._run(requests.confirm_policy(container, etag))

    def confirm_store(self, store_id: str) -> None:
        """Confirms the store with this id; deletes resume after a reconciliation."""
        self._run(requests.confirm_store(store_id))

    def set_max_deletes_per_second(self, limit: float | None) -> float | None:
        """Sets the limit of all containers together, 0: no deletes, None: no limit. Returns the one
        in force."""
        return self._run(requests.set_max_deletes_per_second(limit))

    def reset_max_deletes_per_second(self) -> float | None:
        """Restores the limit of the command line and returns it."""
        return self._run(requests.reset_max_deletes_per_second())

    # Holds, which keep expired items from being deleted (HoldService).

    def place_hold(self, container: str, hold_id: str, reason: str, *,
                   keys: Iterable[Key] | None = None, partition_key: bytes | None = None,
                   all_items: bool = False,
                   until: datetime.datetime | None = None) -> PlacedHold:
        """Holds the items with these keys, which are sent MAX_ENTRIES_PER_CALL at a time, or all of
        a partition key, or all of the container; TypeError unless one of them is given. Adds keys
        to the hold of this name if there is one, and replaces its reason and end. No delete can
        remove the items when it returns; it waits for those in flight. If it fails, the hold may
        have been placed: call it again. Sent again as reads are, since holding twice is harmless.
        """
        parts = requests.place_hold(container, hold_id, reason, keys, partition_key, all_items,
                                    until)
        return values.joined([self._run(part) for part in parts])

    def release_hold(self, container: str, hold_id: str) -> None:
        """Ends a hold: expired items that no other one covers will be deleted. NOT_FOUND if there
        is none, also because a call that failed without a response had ended it."""
        self._run(requests.release_hold(container, hold_id))

    def list_holds(self, container: str = "") -> Iterator[hold_pb2.Hold]:
        """Those of one container, or all, in the order of container and name."""
        return self._pages(requests.list_holds(container))

    def list_held_keys(self, container: str, hold_id: str) -> Iterator[Key]:
        """The keys of a hold, in their order; none if it is not on keys."""
        return self._pages(requests.list_held_keys(container, hold_id))

    def accept_holds(self, container: str) -> None:
        """States that the holds of the container are complete; deletes that waited for it resume.
        """
        self._run(requests.accept_holds(container))

    # The feed: what expires and what is deleted (FeedService).

    def watch_events(self, containers: Iterable[str], token: bytes = b"", *,
                     kinds: Iterable[int | str] = (), heartbeat: float = 1.0
                     ) -> Iterator[feed_service_pb2.WatchEventsResponse]:
        """The events of up to 100 containers behind `token`, that of a response, or from now on;
        only those of `kinds` (feed_pb2, or their names), if there are any. Responses without events
        are heartbeats.

        A stream that breaks after its first response is opened again, for as long as it takes. A
        response counts as dealt with when the next one is asked for; keep its token, to begin
        behind it in another process. A silence of five heartbeats (in seconds) counts as a break.

        OUT_OF_RANGE: events are missing, because they were dropped (reason EVENTS_DROPPED) or the
        log is another one (LOG_REPLACED). Begin without a token, wait for the first response,
        then compare what you keep with the store."""
        watch = requests.watch_events(containers, token, kinds, heartbeat)
        return streams.follow_events(watch.method(self), watch, self._calls)

    def watch_subscription(self, container: str, name: str, *, heartbeat: float = 1.0
                           ) -> Iterator[feed_service_pb2.WatchEventsResponse]:
        """The events of a subscription that are not acknowledged, as watch_events() does. They come
        again when a stream is opened again.

        After OUT_OF_RANGE read the last_sequence of the subscription, compare what you keep with
        the store, acknowledge that sequence, and begin again."""
        watch = requests.watch_subscription(container, name, heartbeat)
        return streams.follow_events(watch.method(self), watch, self._calls)

    def acknowledge(self, container: str, name: str, epoch: int, sequence: int) -> int:
        """States that all events of the subscription up to `sequence` are dealt with; durable when
        it returns the sequence acknowledged now. `epoch` is that of the response that brought the
        event. OUT_OF_RANGE with the reason SEQUENCE_NOT_SENT if the sidecar has restarted since:
        the events come again, to be acknowledged then."""
        return self._run(requests.acknowledge(container, name, epoch, sequence))

    def create_subscription(self, container: str, name: str, *, kinds: Iterable[int | str] = (),
                            consumer: str = "", gate: bool = False,
                            give_up_after: int | None = None) -> feed_pb2.Subscription:
        """Begins behind the last event. `kinds`: what it reads, all if empty. `consumer`: who alone
        may acknowledge. `gate`: an item is deleted only after its EXPIRED is acknowledged; begins at
        the oldest event that is kept, and no delete that was under way goes on when it returns.
        `give_up_after`: seconds of serving after which an item no longer waits; its PURGED then
        has the name in given_up_subscriptions."""
        return self._run(requests.create_subscription(container, name, kinds, consumer, gate,
                                                      give_up_after))

    def get_subscription(self, container: str, name: str) -> feed_pb2.Subscription:
        return self._run(requests.get_subscription(container, name))

    def list_subscriptions(self, container: str = "") -> Iterator[feed_pb2.Subscription]:
        """Those of one container, or all, in the order of container and name."""
        return self._pages(requests.list_subscriptions(container))

    def delete_subscription(self, container: str, name: str) -> None:
        """Ends its streams, too, and no item waits for it any more. NOT_FOUND if there is none, also
        because a call that failed without a response had deleted it."""
        self._run(requests.delete_subscription(container, name))

    # Maintenance.

    def start_reconciliation(self, container: str = "", *,
                             dry_run: bool = False) -> maintenance_service_pb2.Reconciliation:
        """Of one container, or of all."""
        return self._run(requests.start_reconciliation(container, dry_run))

    def get_reconciliation(self) -> maintenance_service_pb2.Reconciliation:
        return self._run(requests.get_reconciliation())

    def cancel_reconciliation(self) -> maintenance_service_pb2.Reconciliation:
        return self._run(requests.cancel_reconciliation())

    def trust_data(self) -> None:
        """Declares the tracked data complete."""
        self._run(requests.trust_data())

    def verify_data(self) -> Iterator[maintenance_service_pb2.VerifyDataResponse]:
        """The last message has `finished` set. Without a deadline, as all that lasts as long as
        there are data to read."""
        return self._download(requests.verify_data())

    def back_up_data(self) -> Iterator[maintenance_service_pb2.BackUpDataResponse]:
        """The data directory, piece by piece. Without a deadline."""
        return self._download(requests.back_up_data())

    def _run(self, call: Call[T]) -> T:
        with call.named_errors():
            return call.read(self._calls.unary(call.method(self), call.request,
                                               self._limits.of(call.limit), call.kind))

    def _run_all(self, parts: Iterable[Call[list[T]]]) -> list[T]:
        return [result for part in parts for result in self._run(part)]

    def _pages(self, call: Call[Page[T]] | None) -> Iterator[T]:
        while call is not None:
            page = self._run(call)
            yield from page.entries
            call = page.next

    def _exchange(self, exchange: Exchange[E, T],
                  batches: Iterable[Sequence[E]]) -> Iterator[Reply[T]]:
        messages = (exchange.message(batch) for batch in batches)
        for response in streams.exchange(exchange.method(self), messages,
                                         self._limits.of(exchange.limit), self._calls):
            yield exchange.reply(response)

    def _download(self, download: requests.Download) -> Iterator[Any]:
        return streams.download(download.method(self), download, self._calls)
