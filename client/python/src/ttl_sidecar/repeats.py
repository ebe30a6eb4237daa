"""Which calls are made again after a failed attempt, and after what pause.

A sidecar that restarts is away for about a second. Until their deadline, calls wait for a
connection, and those that may be sent twice are sent again.
"""

from __future__ import annotations

import enum

import grpc

from ttl_sidecar.errors import SidecarError

# Of reports that the sidecar has no room for.
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
    # A second one could undo somebody else's: never sent again.
    CHANGE = enum.auto()


def _may_repeat(kind: Kind, error: SidecarError, attempt: int) -> bool:
    if kind is Kind.CHANGE:
        return False
    if error.code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return kind is not Kind.READ and attempt < _MAX_ATTEMPTS
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
