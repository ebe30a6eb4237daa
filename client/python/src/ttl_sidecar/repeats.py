"""Which calls are made again after a failed attempt, and after what pause.

A sidecar that restarts is away for about a second. Until their deadline, calls wait for a
connection, and those that may be sent twice are sent again.
"""

from __future__ import annotations

import enum
import random
import time
from typing import Callable

import grpc

from ttl_sidecar.errors import SidecarError

# Of reports and touches that the sidecar has no room for.
_MAX_ATTEMPTS = 4

_FIRST_PAUSE = 0.05
_MAX_PAUSE = 0.5


class Kind(enum.Enum):
    """What it means to send a call twice."""

    # Nothing.
    READ = enum.auto()
    # Every entry has a sequence, by which the sidecar tells a second report from a later one.
    ORDERED_REPORT = enum.auto()
    # A second report could overrule a later write of the same second: sent again only if the
    # sidecar refused the first, which it says by a hint when to come back.
    REPORT = enum.auto()
    # A hold. Nothing, unless somebody released it in between: then it stands again, which deletes
    # nothing.
    HOLD = enum.auto()
    # A touch: the countdown starts a moment later.
    TOUCH = enum.auto()
    # A second one could undo somebody else's: never sent again.
    CHANGE = enum.auto()
    # Useful only immediately: never sent again, and does not wait for a connection.
    NOW = enum.auto()


def _may_repeat(kind: Kind, error: SidecarError, attempt: int) -> bool:
    if kind in (Kind.CHANGE, Kind.NOW):
        return False
    if error.code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        is_queued = kind in (Kind.ORDERED_REPORT, Kind.REPORT, Kind.TOUCH)
        return is_queued and attempt < _MAX_ATTEMPTS
    if error.code is not grpc.StatusCode.UNAVAILABLE:
        return False
    return kind is not Kind.REPORT or error.retry_after is not None


def pause_before_repeat(kind: Kind, error: SidecarError, attempt: int, left: float,
                        random: float) -> float | None:
    """Seconds from the failure of an attempt, the first of which is 1, to the next; None if there
    is none. `random` is from 0 to 1: clients that fail together do not come back together."""
    if not _may_repeat(kind, error, attempt):
        return None
    grown = min(_FIRST_PAUSE * 2 ** min(attempt - 1, 10), _MAX_PAUSE)
    pause = grown * (0.5 + random / 2) if error.retry_after is None else error.retry_after
    return pause if pause < left else None


class Attempts:
    """The attempts of one call, which end with its time."""

    def __init__(self, kind: Kind, timeout: float):
        self._kind = kind
        self._timeout = timeout
        self._end = time.monotonic() + timeout
        self._number = 1
        self._unavailable: SidecarError | None = None

    def left(self) -> float:
        """Seconds until the end."""
        return max(0.0, self._end - time.monotonic())

    @property
    def waits(self) -> bool:
        """Whether the attempt waits for a connection.

        What may not be sent twice does so from the start. The first attempt of others fails where
        there is none, with the reason. A call that waits also moves the connection on, which gRPC
        does by itself only every 5 s.
        """
        return self._number > 1 or self._kind in (Kind.REPORT, Kind.CHANGE)

    def pause_after(self, error: SidecarError,
                    timeout_error: Callable[[float], SidecarError]) -> float:
        """Seconds to wait before the next attempt. If there is none, raises what the caller is
        told; `timeout_error` makes the error of a call that ran out of that time."""
        if error.code is grpc.StatusCode.DEADLINE_EXCEEDED:
            # Why there was no answer, rather than that there was none.
            raise self._unavailable or timeout_error(self._timeout) from error
        if error.code is grpc.StatusCode.UNAVAILABLE:
            self._unavailable = error
        pause = pause_before_repeat(self._kind, error, self._number, self.left(), random.random())
        if pause is None:
            raise error
        self._number += 1
        return pause
