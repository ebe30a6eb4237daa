"""What the methods of a client send, within which time and how often, and how a response is read.

Pure: Client and AsyncClient make these calls, each in its own way.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import enum
from typing import Any, Callable, Generic, Iterable, Iterator, Mapping, Sequence, TypeVar

import grpc
from google.protobuf import duration_pb2, field_mask_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.message import Message

from ttl.v1 import (
    clock_pb2, container_pb2, container_service_pb2 as containers_pb,
    container_service_pb2_grpc, expiry_service_pb2 as expiry_pb, expiry_service_pb2_grpc, feed_pb2,
    feed_service_pb2 as feed_pb, feed_service_pb2_grpc, hold_pb2, hold_service_pb2 as holds_pb,
    hold_service_pb2_grpc, item_pb2, item_service_pb2 as items_pb, item_service_pb2_grpc,
    maintenance_service_pb2 as maintenance_pb, maintenance_service_pb2_grpc)
from ttl_sidecar import errors, values
from ttl_sidecar.errors import SidecarError
from ttl_sidecar.repeats import Kind
from ttl_sidecar.time_limits import require_time_limit
from ttl_sidecar.values import (
    Answer, Check, Deletion, Item, Key, PlacedHold, Touched, TrackResult, UntrackResult)

DEFAULT_ADDRESS = "unix:/run/ttl-sidecar/sidecar.sock"
MAX_ENTRIES_PER_CALL = 1000

# grpc.health.v1.HealthCheckResponse.SERVING
_SERVING = 1

T = TypeVar("T")
E = TypeVar("E")


class Stubs:
    """The stubs of one channel, of threads or of asyncio."""

    item_service: Any
    container_service: Any
    expiry_service: Any
    feed_service: Any
    hold_service: Any
    maintenance_service: Any

    def __init__(self, channel: Any):
        self.item_service = item_service_pb2_grpc.ItemServiceStub(channel)
        self.container_service = container_service_pb2_grpc.ContainerServiceStub(channel)
        self.expiry_service = expiry_service_pb2_grpc.ExpiryServiceStub(channel)
        self.feed_service = feed_service_pb2_grpc.FeedServiceStub(channel)
        self.hold_service = hold_service_pb2_grpc.HoldServiceStub(channel)
        self.maintenance_service = maintenance_service_pb2_grpc.MaintenanceServiceStub(channel)
        # With messages of the same wire format: grpc.health.v1 belongs to another package.
        self.check_health = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=wrappers_pb2.StringValue.SerializeToString,
            response_deserializer=wrappers_pb2.Int32Value.FromString)


# Which method of which stub.
Method = Callable[[Stubs], Any]


class Limit(enum.Enum):
    """Which of a client's time limits counts."""

    CHECK = enum.auto()
    REPORT = enum.auto()
    ADMIN = enum.auto()


class Limits:
    """The time limits of one client, in seconds."""

    def __init__(self, check_timeout: float, report_timeout: float, admin_timeout: float):
        self._seconds = {
            Limit.CHECK: require_time_limit("check_timeout", check_timeout),
            Limit.REPORT: require_time_limit("report_timeout", report_timeout),
            Limit.ADMIN: require_time_limit("admin_timeout", admin_timeout)}

    def of(self, limit: Limit) -> float:
        return self._seconds[limit]


@dataclasses.dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A unary call; `about` names what it sends if that is a part of more."""

    method: Method
    request: Message
    read: Callable[[Any], T]
    kind: Kind
    limit: Limit = Limit.ADMIN
    about: str = ""

    @contextlib.contextmanager
    def named_errors(self) -> Iterator[None]:
        """Within it an error says which part it is about."""
        try:
            yield
        except SidecarError as error:
            if not self.about:
                raise
            raise error.about(self.about) from error


@dataclasses.dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of a list, and the call for the next ones, if there are more."""

    entries: Sequence[T]
    next: Call[Page[T]] | None


@dataclasses.dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """The answer to one message of a stream: its results, or why it was refused. A refused message
    does not end the stream."""

    values: list[T] | None
    error: SidecarError | None = None

    def results(self) -> list[T]:
        """The results; raises the error of a refused message."""
        if self.error is not None:
            raise self.error
        assert self.values is not None
        return self.values


class Exchange(Generic[E, T]):
    """Batches over one stream, and a reply for each, in order. For one use."""

    def __init__(self, method: Method, limit: Limit, make_message: Callable[[Sequence[E]], Message],
                 read: Callable[[Any, int], list[T]]):
        self.method = method
        self.limit = limit
        self._make_message: Callable[[Sequence[E]], Message] = make_message
        self._read = read
        self._sizes: list[int] = []  # of the batches not replied to yet, oldest first

    def message(self, batch: Sequence[E]) -> Message:
        self._sizes.append(len(batch))
        return self._make_message(batch)

    def reply(self, response: Any) -> Reply[T]:
        size = self._sizes.pop(0)
        if response.HasField("error"):
            return Reply(None, errors.from_message(response.error))
        return Reply(self._read(response.response, size))


@dataclasses.dataclass(frozen=True, slots=True)
class Watch:
    """A stream that never ends by itself and is never silent for longer than that."""

    method: Method
    request: Message
    longest_silence: float


class EventWatch:
    """Streams of events one after the other, each of which begins where the one before ended."""

    # Codes after which opening the next stream would not help. CANCELLED: the client is closed.
    _FINAL = frozenset({
        grpc.StatusCode.CANCELLED, grpc.StatusCode.OUT_OF_RANGE, grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.UNIMPLEMENTED})

    _FIRST_PAUSE = 0.1
    _LONGEST_PAUSE = 2.0

    def __init__(self, request: feed_pb.WatchEventsRequest, heartbeat: float):
        self.longest_silence = require_time_limit("heartbeat", 5 * heartbeat)
        self.request = request
        self.request.heartbeat_interval.CopyFrom(_duration(self.longest_silence / 5))
        self._has_begun = False
        self._pause = self._FIRST_PAUSE

    @staticmethod
    def method(stubs: Stubs) -> Any:
        return stubs.feed_service.WatchEvents

    def heard(self) -> None:
        """To be called when a response has come."""
        self._has_begun = True
        self._pause = self._FIRST_PAUSE

    def move_behind(self, response: feed_pb.WatchEventsResponse) -> None:
        """To be called when the response has been dealt with. A subscription moves by what is
        acknowledged."""
        if self.request.HasField("containers") and response.token:
            self.request.containers.token = response.token

    def may_resume_after(self, error: SidecarError) -> bool:
        """Whether a stream that ended so has to be followed by another."""
        return self._has_begun and error.code not in self._FINAL

    def next_pause(self) -> float:
        """Seconds before the next stream: more each time, until a response comes."""
        pause, self._pause = self._pause, min(2 * self._pause, self._LONGEST_PAUSE)
        return pause


@dataclasses.dataclass(frozen=True, slots=True)
class Download:
    """A stream that lasts as long as there is something to send. If `name` is given, the last
    message says that the work of that name is finished."""

    method: Method
    request: Message
    name: str = ""

    def require_finished(self, last: Any) -> None:
        """To be called at the end of the stream with its last message, None if there was none."""
        if self.name and not (last is not None and last.finished):
            raise SidecarError(grpc.StatusCode.INTERNAL,
                               f"the sidecar ended the {self.name} before it was finished")


# Data path.


def track(container: str, items: Iterable[Item],
          adopted: bool) -> Iterator[Call[list[TrackResult]]]:
    def call(part: list[Item]) -> Call[list[TrackResult]]:
        request = _track_request(container, part)
        request.adopted = adopted
        return Call(lambda stubs: stubs.item_service.TrackItems, request,
                    lambda response: values.track_results(response, len(part)),
                    _kind_of_report(part), Limit.REPORT)
    return _in_parts(items, call)


def untrack(container: str,
            deletions: Iterable[Deletion]) -> Iterator[Call[list[UntrackResult]]]:
    def call(part: list[Deletion]) -> Call[list[UntrackResult]]:
        request = items_pb.UntrackItemsRequest(
            container=container, items=[deletion.to_proto() for deletion in part])
        return Call(lambda stubs: stubs.item_service.UntrackItems, request,
                    lambda response: values.untrack_results(response, len(part)),
                    _kind_of_report(part), Limit.REPORT)
    return _in_parts(deletions, call)


def touch(container: str, keys: Iterable[Key],
          unless_touched_within: int) -> Iterator[Call[list[Touched]]]:
    within = _seconds("unless_touched_within", unless_touched_within)

    def call(part: list[items_pb.ItemKey]) -> Call[list[Touched]]:
        request = items_pb.TouchItemsRequest(container=container, keys=part,
                                             unless_touched_within=within)
        return Call(lambda stubs: stubs.item_service.TouchItems, request,
                    lambda response: values.touched(response, len(part)), Kind.TOUCH, Limit.REPORT)
    return _in_parts([values.item_key(key) for key in keys], call)


def check(container: str, checks: Iterable[Check],
          as_of: datetime.datetime | None) -> Iterator[Call[list[Answer]]]:
    def call(part: list[Check]) -> Call[list[Answer]]:
        return Call(lambda stubs: stubs.item_service.CheckVisibility,
                    _check_request(container, part, as_of),
                    lambda response: values.answers(response, len(part)), Kind.READ, Limit.CHECK)
    return _in_parts(checks, call)


def track_stream(container: str) -> Exchange[Item, TrackResult]:
    return Exchange(
        lambda stubs: stubs.item_service.StreamTrackItems, Limit.REPORT,
        lambda batch: items_pb.StreamTrackItemsRequest(request=_track_request(container, batch)),
        values.track_results)


def check_stream(container: str, as_of: datetime.datetime | None) -> Exchange[Check, Answer]:
    return Exchange(
        lambda stubs: stubs.item_service.StreamCheckVisibility, Limit.CHECK,
        lambda batch: items_pb.StreamCheckVisibilityRequest(
            request=_check_request(container, batch, as_of)),
        values.answers)


def get_item(container: str, id: bytes, partition_key: bytes) -> Call[item_pb2.ItemView]:
    values.require_key(id, partition_key)
    request = items_pb.GetItemRequest(container=container, partition_key=partition_key, id=id)
    return Call(lambda stubs: stubs.item_service.GetItem, request,
                lambda response: response.item, Kind.READ, Limit.CHECK)


def list_items(container: str, show_expired: bool, expired_only: bool,
               partition_key: bytes | None, expire_time_from: int | None,
               expire_time_to: int | None,
               as_of: datetime.datetime | None) -> Call[Page[item_pb2.ItemView]]:
    if partition_key is not None:
        values.require_bytes("partition_key", partition_key)
    values.require_seconds("expire_time_from", expire_time_from)
    values.require_seconds("expire_time_to", expire_time_to)
    request = items_pb.ListItemsRequest(
        container=container, show_expired=show_expired, expired_only=expired_only,
        partition_key=partition_key, expire_time_from=expire_time_from,
        expire_time_to=expire_time_to, as_of=_timestamp("as_of", as_of))
    return _pages(lambda stubs: stubs.item_service.ListItems, request, "items")


# Containers.


def create_container(container: container_pb2.Container) -> Call[container_pb2.Container]:
    return _change(lambda stubs: stubs.container_service.CreateContainer,
                   containers_pb.CreateContainerRequest(container=container),
                   lambda response: response.container)


def preview_container(container: container_pb2.Container) -> Download:
    return Download(lambda stubs: stubs.maintenance_service.PreviewContainer,
                    maintenance_pb.PreviewContainerRequest(container=container), "preview")


def new_container(id: str, default_ttl: int | None, indexing_mode: int | str | None = None,
                  delete_policy: container_pb2.DeletePolicy | Mapping[str, Any] | None = None,
                  show_held: bool = False, requires_holds: bool = False,
                  feed: feed_pb2.FeedSettings | None = None,
                  allow_touch: bool = False) -> container_pb2.Container:
    values.require_seconds("default_ttl", default_ttl)
    mode: Any = indexing_mode
    return container_pb2.Container(id=id, default_ttl=default_ttl, indexing_mode=mode,
                                   delete_policy=delete_policy, show_held=show_held,
                                   requires_holds=requires_holds, feed=feed,
                                   allow_touch=allow_touch)


def get_container(id: str) -> Call[container_pb2.Container]:
    return _read(lambda stubs: stubs.container_service.GetContainer,
                 containers_pb.GetContainerRequest(id=id), lambda response: response.container)


def list_containers(id_prefix: str, ttl_on_only: bool) -> Call[Page[container_pb2.Container]]:
    request = containers_pb.ListContainersRequest(id_prefix=id_prefix, ttl_on_only=ttl_on_only)
    return _pages(lambda stubs: stubs.container_service.ListContainers, request, "containers")


def update_container(container: container_pb2.Container, paths: Iterable[str],
                     force: bool = False) -> Call[container_pb2.Container]:
    request = containers_pb.UpdateContainerRequest(
        container=container, update_mask=field_mask_pb2.FieldMask(paths=paths), force=force)
    return _change(lambda stubs: stubs.container_service.UpdateContainer, request,
                   lambda response: response.container)


def preview_update(container: container_pb2.Container, paths: Iterable[str],
                   force: bool = False) -> Call[containers_pb.UpdateContainerResponse]:
    request = containers_pb.UpdateContainerRequest(
        container=container, update_mask=field_mask_pb2.FieldMask(paths=paths), validate_only=True,
        force=force)
    return _change(lambda stubs: stubs.container_service.UpdateContainer, request, _whole)


def set_default_ttl(id: str, default_ttl: int | None) -> Call[container_pb2.Container]:
    return update_container(new_container(id, default_ttl), ["default_ttl"])


def delete_container(id: str, etag: str, force: bool) -> Call[None]:
    return _change(lambda stubs: stubs.container_service.DeleteContainer,
                   containers_pb.DeleteContainerRequest(id=id, etag=etag, force=force), _nothing)


def watch_containers(heartbeat: float, expire_at: bool, show_held: bool, touch: bool) -> Watch:
    longest_silence = require_time_limit("heartbeat", 5 * heartbeat)
    known = [(containers_pb.JUDGING_RULE_EXPIRE_AT, expire_at),
             (containers_pb.JUDGING_RULE_SHOW_HELD, show_held),
             (containers_pb.JUDGING_RULE_TOUCH, touch)]
    rules = [rule for rule, is_known in known if is_known]
    request = containers_pb.WatchContainersRequest(
        heartbeat_interval=_duration(longest_silence / 5), rules=rules)
    return Watch(lambda stubs: stubs.container_service.WatchContainers, request, longest_silence)


# Operators: status, and what holds deletes back.


def status(container: str) -> Call[expiry_pb.GetExpiryStatusResponse]:
    return _read(lambda stubs: stubs.expiry_service.GetExpiryStatus,
                 expiry_pb.GetExpiryStatusRequest(container=container), _whole)


def list_statuses() -> Call[Page[expiry_pb.ContainerExpiryStatus]]:
    return _pages(lambda stubs: stubs.expiry_service.ListExpiryStatuses,
                  expiry_pb.ListExpiryStatusesRequest(), "containers")


def explain_item(container: str, id: bytes,
                 partition_key: bytes) -> Call[expiry_pb.ExplainItemResponse]:
    values.require_key(id, partition_key)
    request = expiry_pb.ExplainItemRequest(container=container, id=id, partition_key=partition_key)
    return _read(lambda stubs: stubs.expiry_service.ExplainItem, request, _whole)


def list_stuck_items(container: str) -> Call[Page[expiry_pb.StuckItem]]:
    return _pages(lambda stubs: stubs.expiry_service.ListStuckItems,
                  expiry_pb.ListStuckItemsRequest(container=container), "items")


def forecast(container: str | None, until: datetime.datetime | None, step: int | None,
             default_ttl: int | None) -> Call[expiry_pb.GetForecastResponse]:
    values.require_seconds("default_ttl", default_ttl)
    request = expiry_pb.GetForecastRequest(
        until=_timestamp("until", until), default_ttl=default_ttl, step=_seconds("step", step),
        **_target(container))
    return _read(lambda stubs: stubs.expiry_service.GetForecast, request, _whole)


def is_serving(health_service: str) -> Call[bool]:
    return Call(lambda stubs: stubs.check_health, wrappers_pb2.StringValue(value=health_service),
                lambda response: response.value == _SERVING, Kind.NOW)


def pause_deletes(reason: str, container: str | None,
                  all_containers: bool) -> Call[expiry_pb.PauseState]:
    target = _named_target(container, all_containers)
    return _change(lambda stubs: stubs.expiry_service.PauseDeletes,
                   expiry_pb.PauseDeletesRequest(reason=reason, **target),
                   lambda response: response.pause)


def resume_deletes(container: str | None, all_containers: bool) -> Call[None]:
    target = _named_target(container, all_containers)
    return _change(lambda stubs: stubs.expiry_service.ResumeDeletes,
                   expiry_pb.ResumeDeletesRequest(**target), _nothing)


def accept_clock() -> Call[clock_pb2.ClockStatus]:
    return _change(lambda stubs: stubs.expiry_service.AcceptClock, expiry_pb.AcceptClockRequest(),
                   lambda response: response.clock)


def confirm_policy(container: str, etag: str) -> Call[container_pb2.Container]:
    return _change(lambda stubs: stubs.expiry_service.ConfirmPolicy,
                   expiry_pb.ConfirmPolicyRequest(container=container, etag=etag),
                   lambda response: response.container)


def confirm_store(store_id: str) -> Call[None]:
    return _change(lambda stubs: stubs.expiry_service.ConfirmStore,
                   expiry_pb.ConfirmStoreRequest(store_id=store_id), _nothing)


def set_max_deletes_per_second(limit: float | None) -> Call[float | None]:
    if limit is None:
        return _set_limit(expiry_pb.SetMaxDeletesPerSecondRequest(unlimited=True))
    return _set_limit(expiry_pb.SetMaxDeletesPerSecondRequest(max_deletes_per_second=limit))


def reset_max_deletes_per_second() -> Call[float | None]:
    return _set_limit(expiry_pb.SetMaxDeletesPerSecondRequest(server_default=True))


def report_usage(container: str, request_units: float, period: float,
                 reporter: str) -> Call[None]:
    request = expiry_pb.ReportUsageRequest(container=container, request_units=request_units,
                                           period=_duration(period), reporter=reporter)
    return Call(lambda stubs: stubs.expiry_service.ReportUsage, request, _nothing, Kind.CHANGE,
                Limit.REPORT)


def report_usage_now(request: expiry_pb.ReportUsageRequest) -> Call[None]:
    return Call(lambda stubs: stubs.expiry_service.ReportUsage, request, _nothing, Kind.NOW,
                Limit.CHECK)


# Holds.


def place_hold(container: str, hold_id: str, reason: str, keys: Iterable[Key] | None,
               partition_key: bytes | None, all_items: bool,
               until: datetime.datetime | None) -> Iterator[Call[PlacedHold]]:
    """The calls that place it: several for more than MAX_ENTRIES_PER_CALL keys."""
    if [keys is not None, partition_key is not None, bool(all_items)].count(True) != 1:
        raise TypeError("one of keys, partition_key and all_items=True is required")
    hold: dict[str, Any] = {"container": container, "hold_id": hold_id, "reason": reason,
                            "until": _timestamp("until", until)}

    def call(part: list[hold_pb2.HeldKey], **scope: Any) -> Call[PlacedHold]:
        return Call(lambda stubs: stubs.hold_service.PlaceHold,
                    holds_pb.PlaceHoldRequest(**hold, **scope),
                    lambda response: values.placed_hold(response, len(part)), Kind.HOLD)
    if keys is not None:
        held = [values.held_key(key) for key in keys]
        if not held:
            raise ValueError("keys: at least one is required")
        return _in_parts(held, lambda part: call(part, keys=hold_pb2.HeldKeys(keys=part)))
    if partition_key is not None:
        values.require_bytes("partition_key", partition_key)
        return iter([call([], partition_key=partition_key)])
    return iter([call([], all_items=True)])


def release_hold(container: str, hold_id: str) -> Call[None]:
    return _change(lambda stubs: stubs.hold_service.ReleaseHold,
                   holds_pb.ReleaseHoldRequest(container=container, hold_id=hold_id), _nothing)


def list_holds(container: str) -> Call[Page[hold_pb2.Hold]]:
    return _pages(lambda stubs: stubs.hold_service.ListHolds,
                  holds_pb.ListHoldsRequest(container=container), "holds")


def list_held_keys(container: str, hold_id: str) -> Call[Page[Key]]:
    return _pages(lambda stubs: stubs.hold_service.ListHeldKeys,
                  holds_pb.ListHeldKeysRequest(container=container, hold_id=hold_id), "keys",
                  lambda key: Key(key.partition_key, key.id))


def accept_holds(container: str) -> Call[None]:
    return _change(lambda stubs: stubs.hold_service.AcceptHolds,
                   holds_pb.AcceptHoldsRequest(container=container), _nothing)


# The feed.


def watch_events(containers: Iterable[str], token: bytes, kinds: Iterable[int | str],
                 heartbeat: float) -> EventWatch:
    if isinstance(containers, str):
        raise TypeError(f"containers = {containers!r}: a list of ids is required")
    values.require_bytes("token", token)
    watched = feed_pb.WatchedContainers(ids=containers, token=token, kinds=_kinds(kinds))
    return EventWatch(feed_pb.WatchEventsRequest(containers=watched), heartbeat)


def watch_subscription(container: str, name: str, heartbeat: float) -> EventWatch:
    watched = feed_pb.WatchedSubscription(container=container, name=name)
    return EventWatch(feed_pb.WatchEventsRequest(subscription=watched), heartbeat)


def acknowledge(container: str, name: str, epoch: int, sequence: int) -> Call[int]:
    values.require_uint64("epoch", epoch)
    values.require_uint64("sequence", sequence)
    request = feed_pb.AcknowledgeRequest(container=container, name=name, epoch=epoch,
                                         sequence=sequence)
    # Sent again as reads are: an acknowledgement never goes back.
    return _read(lambda stubs: stubs.feed_service.Acknowledge, request,
                 lambda response: response.acknowledged_sequence)


def create_subscription(container: str, name: str, kinds: Iterable[int | str], consumer: str,
                        gate: bool, give_up_after: int | None) -> Call[feed_pb2.Subscription]:
    subscription = feed_pb2.Subscription(
        container=container, name=name, kinds=_kinds(kinds), consumer=consumer, gate=gate,
        give_up_after=_seconds("give_up_after", give_up_after))
    return _change(lambda stubs: stubs.feed_service.CreateSubscription,
                   feed_pb.CreateSubscriptionRequest(subscription=subscription),
                   lambda response: response.subscription)


def get_subscription(container: str, name: str) -> Call[feed_pb2.Subscription]:
    return _read(lambda stubs: stubs.feed_service.GetSubscription,
                 feed_pb.GetSubscriptionRequest(container=container, name=name),
                 lambda response: response.subscription)


def list_subscriptions(container: str) -> Call[Page[feed_pb2.Subscription]]:
    return _pages(lambda stubs: stubs.feed_service.ListSubscriptions,
                  feed_pb.ListSubscriptionsRequest(container=container), "subscriptions")


def delete_subscription(container: str, name: str) -> Call[None]:
    return _change(lambda stubs: stubs.feed_service.DeleteSubscription,
                   feed_pb.DeleteSubscriptionRequest(container=container, name=name), _nothing)


# Maintenance.


def start_reconciliation(container: str,
                         dry_run: bool) -> Call[maintenance_pb.Reconciliation]:
    request = maintenance_pb.StartReconciliationRequest(container=container, dry_run=dry_run)
    return _change(lambda stubs: stubs.maintenance_service.StartReconciliation, request,
                   _reconciliation)


def get_reconciliation() -> Call[maintenance_pb.Reconciliation]:
    return _read(lambda stubs: stubs.maintenance_service.GetReconciliation,
                 maintenance_pb.GetReconciliationRequest(), _reconciliation)


def cancel_reconciliation() -> Call[maintenance_pb.Reconciliation]:
    return _change(lambda stubs: stubs.maintenance_service.CancelReconciliation,
                   maintenance_pb.CancelReconciliationRequest(), _reconciliation)


def trust_data() -> Call[None]:
    return _change(lambda stubs: stubs.maintenance_service.TrustData,
                   maintenance_pb.TrustDataRequest(), _nothing)


def verify_data() -> Download:
    return Download(lambda stubs: stubs.maintenance_service.VerifyData,
                    maintenance_pb.VerifyDataRequest(), "verification")


def back_up_data() -> Download:
    return Download(lambda stubs: stubs.maintenance_service.BackUpData,
                    maintenance_pb.BackUpDataRequest())


def _read(method: Method, request: Message, read: Callable[[Any], T]) -> Call[T]:
    return Call(method, request, read, Kind.READ)


def _change(method: Method, request: Message, read: Callable[[Any], T]) -> Call[T]:
    return Call(method, request, read, Kind.CHANGE)


def _whole(response: Any) -> Any:
    return response


def _nothing(response: Any) -> None:
    return None


def _reconciliation(response: Any) -> maintenance_pb.Reconciliation:
    return response.reconciliation


def _set_limit(request: expiry_pb.SetMaxDeletesPerSecondRequest) -> Call[float | None]:
    def read(response: expiry_pb.SetMaxDeletesPerSecondResponse) -> float | None:
        has_limit = response.HasField("max_deletes_per_second")
        return response.max_deletes_per_second if has_limit else None
    return _change(lambda stubs: stubs.expiry_service.SetMaxDeletesPerSecond, request, read)


def _pages(method: Method, request: Any, field: str,
           convert: Callable[[Any], Any] | None = None) -> Call[Page[Any]]:
    def read(response: Any) -> Page[Any]:
        entries = getattr(response, field)
        if convert is not None:
            entries = [convert(entry) for entry in entries]
        if not response.next_page_token:
            return Page(entries, None)
        following = type(request)()
        following.CopyFrom(request)
        following.page_token = response.next_page_token
        return Page(entries, _pages(method, following, field, convert))
    return _read(method, request, read)


def _in_parts(entries: Iterable[Any], call: Callable[[list[Any]], Call[T]]) -> Iterator[Call[T]]:
    """The calls that send `entries`, a part at a time and in order."""
    every = list(entries)
    for first in range(0, len(every), MAX_ENTRIES_PER_CALL):
        part = every[first:first + MAX_ENTRIES_PER_CALL]
        one = call(part)
        if len(part) < len(every):
            one = dataclasses.replace(one, about=f"entries {first} to {first + len(part) - 1}")
        yield one


def _kind_of_report(entries: Sequence[Item] | Sequence[Deletion]) -> Kind:
    is_ordered = all(entry.sequence is not None for entry in entries)
    return Kind.ORDERED_REPORT if is_ordered else Kind.REPORT


def _track_request(container: str, items: Iterable[Item]) -> items_pb.TrackItemsRequest:
    return items_pb.TrackItemsRequest(container=container,
                                      items=[item.to_proto() for item in items])


def _check_request(container: str, checks: Iterable[Check],
                   as_of: datetime.datetime | None) -> items_pb.CheckVisibilityRequest:
    return items_pb.CheckVisibilityRequest(container=container, as_of=_timestamp("as_of", as_of),
                                           checks=[check.to_proto() for check in checks])


def _kinds(kinds: Iterable[int | str]) -> Any:
    if isinstance(kinds, str):
        raise TypeError(f"kinds = {kinds!r}: a list of kinds is required")
    return list(kinds)


def _target(container: str | None) -> dict[str, Any]:
    return {"all_containers": True} if container is None else {"container": container}


def _named_target(container: str | None, all_containers: bool) -> dict[str, Any]:
    """As _target(), where a container that is None by mistake must not mean all of them."""
    if not isinstance(all_containers, bool) or all_containers != (container is None):
        raise TypeError(f"container = {container!r}, all_containers = {all_containers!r}: the id of "
                        "a container is required, or all_containers=True")
    return _target(container)


def _seconds(field: str, seconds: int | None) -> duration_pb2.Duration | None:
    """Of a field that takes whole ones."""
    values.require_seconds(field, seconds)
    return None if seconds is None else duration_pb2.Duration(seconds=seconds)


def _duration(seconds: float) -> duration_pb2.Duration:
    duration = duration_pb2.Duration()
    duration.FromMilliseconds(round(seconds * 1000))
    return duration


def _timestamp(field: str, time: datetime.datetime | None) -> timestamp_pb2.Timestamp | None:
    if time is None:
        return None
    values.require_time(field, time)
    timestamp = timestamp_pb2.Timestamp()
    timestamp.FromDatetime(time)
    return timestamp
