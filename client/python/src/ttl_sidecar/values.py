"""Items, checks and answers as plain values. Keys and etags are bytes of any kind.

A value is checked when it is made: TypeError or ValueError names the field and what would be right.
protobuf would take None for an empty key, and True for one second.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import operator
from typing import NamedTuple

from ttl.v1 import hold_pb2, hold_service_pb2, item_pb2, item_service_pb2
from ttl_sidecar import errors


def require_bytes(field: str, value: bytes) -> None:
    if not isinstance(value, bytes):
        raise TypeError(f"{field} = {value!r}: bytes are required")


def _require_integer(field: str, value: int, least: int, most: int) -> None:
    # numpy's integers are none of int's, and a Boolean is.
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{field} = {value!r}: a whole number is required")
    if not least <= operator.index(value) <= most:
        raise ValueError(f"{field} = {value}: {least} to {most} are allowed")


def _require_int64(field: str, value: int) -> None:
    _require_integer(field, value, -2**63, 2**63 - 1)


def require_uint64(field: str, value: int) -> None:
    _require_integer(field, value, 0, 2**64 - 1)


def _require_sequence(value: int | None) -> None:
    if value is not None:
        require_uint64("sequence", value)


def require_key(id: bytes, partition_key: bytes) -> None:
    require_bytes("id", id)
    require_bytes("partition_key", partition_key)


def require_seconds(field: str, value: int | None) -> None:
    """Whether they are seconds at all; which of them are legal, the sidecar says."""
    if value is not None:
        _require_int64(field, value)


def require_time(field: str, value: datetime.datetime) -> None:
    """protobuf would take one without a time zone for UTC, and Python takes it for local time."""
    if not isinstance(value, datetime.datetime):
        raise TypeError(f"{field} = {value!r}: a datetime is required")
    if value.utcoffset() is None:
        raise ValueError(f"{field} = {value!r}: a datetime with a time zone is required")


class Key(NamedTuple):
    """Names an item inside its container."""

    partition_key: bytes
    id: bytes


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """An item as the store has it.

    ts            time of its last write, in whole Unix seconds
    ttl           its own time to live in seconds, or -1; None: the container's default counts
    expire_at     when it ends, in whole Unix seconds: it expires at the earlier of ts + ttl and this,
                  and the container's default does not count; None: it does not say
    etag          opaque version, up to 128 bytes; empty: none
    sequence      the store's own order of writes; with it, a report may be repeated
    size_bytes    for accounting; 0 if not known
    """

    id: bytes
    ts: int
    partition_key: bytes = b""
    ttl: int | None = None
    etag: bytes = b""
    sequence: int | None = None
    size_bytes: int = 0
    expire_at: int | None = None

    def __post_init__(self) -> None:
        require_key(self.id, self.partition_key)
        _require_int64("ts", self.ts)
        require_seconds("ttl", self.ttl)
        require_seconds("expire_at", self.expire_at)
        require_bytes("etag", self.etag)
        _require_sequence(self.sequence)
        _require_int64("size_bytes", self.size_bytes)

    @property
    def key(self) -> Key:
        return Key(self.partition_key, self.id)

    def to_proto(self) -> item_pb2.Item:
        return item_pb2.Item(**dataclasses.asdict(self))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Deletion:
    """A delete that the store made by itself: `ts` is that of the version deleted.

    0 if only its sequence is known.
    """

    id: bytes
    ts: int
    partition_key: bytes = b""
    sequence: int | None = None

    def __post_init__(self) -> None:
        require_key(self.id, self.partition_key)
        _require_int64("ts", self.ts)
        _require_sequence(self.sequence)

    def to_proto(self) -> item_service_pb2.ItemDeletion:
        return item_service_pb2.ItemDeletion(**dataclasses.asdict(self))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """An item to judge: by its key alone, or with `ts`, `ttl` and `expire_at` as just read."""

    id: bytes
    partition_key: bytes = b""
    ts: int | None = None
    ttl: int | None = None
    expire_at: int | None = None

    def __post_init__(self) -> None:
        require_key(self.id, self.partition_key)
        require_seconds("ts", self.ts)
        require_seconds("ttl", self.ttl)
        require_seconds("expire_at", self.expire_at)

    def to_proto(self) -> item_service_pb2.VisibilityCheck:
        return item_service_pb2.VisibilityCheck(**dataclasses.asdict(self))


class Visibility(enum.Enum):
    """What a check answers."""

    VISIBLE = item_pb2.VISIBILITY_VISIBLE
    EXPIRED = item_pb2.VISIBILITY_EXPIRED
    # The sidecar does not know: nothing is tracked under the key and the check carried no ts; or the
    # item may be held, with show_held, or touched, with allow_touch. Show it if you carried its ts.
    UNTRACKED = item_pb2.VISIBILITY_UNTRACKED

    @classmethod
    def _missing_(cls, value):
        # In doubt, keep: an answer that a later version invents hides nothing.
        return cls.VISIBLE


class TrackResult(enum.Enum):
    """What became of a reported write."""

    UNKNOWN = 0
    TRACKED = item_service_pb2.TRACK_RESULT_TRACKED
    # A newer report is tracked; this one changed nothing.
    STALE = item_service_pb2.TRACK_RESULT_STALE

    @classmethod
    def _missing_(cls, value):
        return cls.UNKNOWN


class UntrackResult(enum.Enum):
    """What became of a reported delete."""

    UNKNOWN = 0
    UNTRACKED = item_service_pb2.UNTRACK_RESULT_UNTRACKED
    # A newer version is tracked; it stays.
    STALE = item_service_pb2.UNTRACK_RESULT_STALE
    NOT_TRACKED = item_service_pb2.UNTRACK_RESULT_NOT_TRACKED

    @classmethod
    def _missing_(cls, value):
        return cls.UNKNOWN


class TouchResult(enum.Enum):
    """What became of a touch."""

    UNKNOWN = 0
    TOUCHED = item_service_pb2.TOUCH_RESULT_TOUCHED
    # The countdown had started within `unless_touched_within`; nothing was changed.
    RECENT = item_service_pb2.TOUCH_RESULT_RECENT
    # The item was expired, and stays so.
    EXPIRED = item_service_pb2.TOUCH_RESULT_EXPIRED
    # Nothing is tracked under the key, or its state is not known.
    NOT_TRACKED = item_service_pb2.TOUCH_RESULT_NOT_TRACKED

    @classmethod
    def _missing_(cls, value):
        return cls.UNKNOWN


@dataclasses.dataclass(frozen=True, slots=True)
class Touched:
    """The answer to one touch.

    expire_time  first instant at which the item is expired now, in whole Unix seconds; None if it
                 never expires or is not tracked
    touch_time   from when a touched item counts, in whole Unix seconds
    """

    result: TouchResult
    expire_time: int | None
    touch_time: int


class PlaceHoldResult(enum.Enum):
    """What a hold found under a key, which is held in each case."""

    UNKNOWN = 0
    HELD = hold_service_pb2.PLACE_HOLD_RESULT_HELD
    # Nothing is tracked under the key; what is tracked there later is held.
    NOT_TRACKED = hold_service_pb2.PLACE_HOLD_RESULT_NOT_TRACKED
    # By a delete that was in flight.
    ALREADY_DELETED = hold_service_pb2.PLACE_HOLD_RESULT_ALREADY_DELETED

    @classmethod
    def _missing_(cls, value):
        return cls.UNKNOWN


@dataclasses.dataclass(frozen=True, slots=True)
class PlacedHold:
    """A hold that stands, and one result per key, in the order of the keys."""

    hold: hold_pb2.Hold
    results: list[PlaceHoldResult]


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one check.

    expire_time  first instant at which the item is expired, in whole Unix seconds; None if it
                 never expires or nothing is known of it
    judged_at    the sidecar's clock when it judged
    """

    visibility: Visibility
    expire_time: int | None
    judged_at: datetime.datetime

    @property
    def expired(self) -> bool:
        """Whether the store must answer as if the item did not exist."""
        return self.visibility is Visibility.EXPIRED


def answers(response: item_service_pb2.CheckVisibilityResponse, count: int) -> list[Answer]:
    """One answer per check, of which there were `count`."""
    for got in (len(response.visibilities), len(response.expire_times)):
        if got != count:
            raise errors.wrong_length(got, count)
    judged_at = response.judged_at.ToDatetime(tzinfo=datetime.timezone.utc)
    return [Answer(Visibility(visibility), expire_time or None, judged_at)
            for visibility, expire_time in zip(response.visibilities, response.expire_times)]


def track_results(response: item_service_pb2.TrackItemsResponse, count: int) -> list[TrackResult]:
    if len(response.results) != count:
        raise errors.wrong_length(len(response.results), count)
    return [TrackResult(result) for result in response.results]


def untrack_results(response: item_service_pb2.UntrackItemsResponse,
                    count: int) -> list[UntrackResult]:
    if len(response.results) != count:
        raise errors.wrong_length(len(response.results), count)
    return [UntrackResult(result) for result in response.results]


def touched(response: item_service_pb2.TouchItemsResponse, count: int) -> list[Touched]:
    for got in (len(response.results), len(response.expire_times)):
        if got != count:
            raise errors.wrong_length(got, count)
    return [Touched(TouchResult(result), expire_time or None, response.touch_time)
            for result, expire_time in zip(response.results, response.expire_times)]


def item_key(key: Key) -> item_service_pb2.ItemKey:
    partition_key, id = key
    require_key(id, partition_key)
    return item_service_pb2.ItemKey(partition_key=partition_key, id=id)


def placed_hold(response: hold_service_pb2.PlaceHoldResponse, count: int) -> PlacedHold:
    if len(response.results) != count:
        raise errors.wrong_length(len(response.results), count)
    return PlacedHold(response.hold, [PlaceHoldResult(result) for result in response.results])


def held_key(key: Key) -> hold_pb2.HeldKey:
    partition_key, id = key
    require_key(id, partition_key)
    return hold_pb2.HeldKey(partition_key=partition_key, id=id)


def joined(parts: list[PlacedHold]) -> PlacedHold:
    """Those of one hold, which the last one shows as it is now."""
    return PlacedHold(parts[-1].hold, [result for part in parts for result in part.results])
