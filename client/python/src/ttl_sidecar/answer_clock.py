"""How long the reader of a stream waits for an answer."""

from __future__ import annotations

import collections
import time

from ttl_sidecar import errors


class AnswerClock:
    """The time that is left for the answer that somebody waits for: `timeout` seconds from when
    its message was sent, or from when its reader came to wait, whichever is later."""

    def __init__(self, timeout: float):
        self._timeout = timeout
        self._sent: collections.deque[float] = collections.deque()
        self._waiting_since: float | None = None

    def sent(self) -> None:
        self._sent.append(time.monotonic())

    def answered(self) -> None:
        """INTERNAL if every message has been answered already."""
        if not self._sent:
            raise errors.unasked()
        self._sent.popleft()

    @property
    def unanswered(self) -> int:
        return len(self._sent)

    def begin_waiting(self) -> None:
        self._waiting_since = time.monotonic()

    def end_waiting(self) -> None:
        self._waiting_since = None

    def remaining(self) -> float | None:
        """Seconds left, at most 0 if the time is over; None if nobody waits for anything."""
        if self._waiting_since is None or not self._sent:
            return None
        return max(self._sent[0], self._waiting_since) + self._timeout - time.monotonic()
