"""Usage of throughput, added up and reported in the background."""

from __future__ import annotations

import dataclasses
import logging
import math
import secrets
import threading
import time
from typing import Callable

import grpc

from ttl.v1 import expiry_service_pb2 as pb
from ttl_sidecar.errors import SidecarError

REPORT_INTERVAL = 1.0

# The usage of further containers is not reported.
MAX_CONTAINERS = 10_000

# Longest period of a report. Usage that had to wait longer is reported at its average rate.
_MAX_PERIOD = 60.0

_log = logging.getLogger(__name__)

_UNWANTED = (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT)


@dataclasses.dataclass(slots=True)
class _Usage:
    units: float
    since: float  # of the last report that was taken


@dataclasses.dataclass(frozen=True, slots=True)
class UsageReport:
    """The usage of one container since its last report."""

    container: str
    usage: _Usage
    request: pb.ReportUsageRequest


class UsageTally:
    """The request units that requests have used, by container, until they are reported.

    From its first use on a container is reported each time, also with zero, because missing reports
    count as full use. A container that the sidecar does not know, or whose report it refuses, is
    dropped until it is used again. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reporter = secrets.token_hex(8)
        self._containers: dict[str, _Usage] = {}
        self._last_report: float | None = None
        self._failures = 0

    @property
    def failures(self) -> int:
        """Reports that the sidecar did not take."""
        with self._lock:
            return self._failures

    def add(self, container: str, request_units: float) -> None:
        """Units that are negative, infinite, NaN or above the range of a float are not counted."""
        units = _require_usage(container, request_units)
        if not (math.isfinite(units) and units >= 0):
            return
        with self._lock:
            known = self._containers.get(container)
            if known is not None:
                known.units += units
            elif len(self._containers) < MAX_CONTAINERS:
                container.encode()  # a lone surrogate is the caller's error
                if self._last_report is None:
                    self._last_report = time.monotonic()
                # It was not used between the last report and now.
                self._containers[container] = _Usage(units, self._last_report)

    def take(self) -> list[UsageReport]:
        """What is to be reported now, each to be settled."""
        now = time.monotonic()
        with self._lock:
            taken, self._containers = self._containers, {
                container: _Usage(0.0, now) for container in self._containers}
            self._last_report = now
            return [UsageReport(container, usage, self._request(container, usage, now))
                    for container, usage in taken.items()]

    def settle(self, reports: list[UsageReport], error: Exception | None) -> list[UsageReport]:
        """`reports` without the first, which was sent, with that outcome. If the sidecar did not
        answer it, none of them is sent now: they are added to the next ones."""
        with self._lock:
            if error is None:
                return reports[1:]
            self._failures += 1
            if isinstance(error, SidecarError) and error.code in _UNWANTED:
                self._containers.pop(reports[0].container, None)
                return reports[1:]
            for report in reports:
                present = self._containers.setdefault(report.container, _Usage(0.0, 0.0))
                present.units += report.usage.units
                present.since = report.usage.since
            return []

    def _request(self, container: str, usage: _Usage, now: float) -> pb.ReportUsageRequest:
        period = max(1e-9, now - usage.since)
        told = min(period, _MAX_PERIOD)
        request = pb.ReportUsageRequest(
            container=container, request_units=usage.units * (told / period),
            reporter=self._reporter)
        request.period.FromNanoseconds(max(1, round(told * 1e9)))
        return request


class UsageReporter:
    """Reports a tally at regular intervals, by a thread that starts with the first use."""

    def __init__(self, send: Callable[[pb.ReportUsageRequest], object],
                 interval: float = REPORT_INTERVAL):
        self.tally = UsageTally()
        self._send = send
        self._interval = interval
        self._stopped = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, container: str, request_units: float) -> None:
        self.tally.add(container, request_units)
        if self._thread is None:
            self._start()

    def stop(self) -> None:
        """Usage since the last report is dropped."""
        self._stopped.set()

    def join(self) -> None:
        """Waits for a report under way. To be called after stop()."""
        with self._starting:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._stopped.wait(self._interval):
            try:
                self._report()
            except Exception:  # the next report is due all the same
                _log.exception("the usage of this second was not reported")

    def _report(self) -> None:
        reports = self.tally.take()
        while reports and not self._stopped.is_set():
            reports = self.tally.settle(reports, self._outcome(reports[0]))

    def _outcome(self, report: UsageReport) -> Exception | None:
        try:
            self._send(report.request)
        except Exception as error:  # of the sidecar or an interceptor: counted in usage_failures
            return error
        return None


def _require_usage(container: str, request_units: float) -> float:
    """`request_units` as a float, infinite if they are too large for one."""
    if not isinstance(container, str):
        raise TypeError(f"container = {container!r}: a string is required")
    if isinstance(request_units, bool) or not isinstance(request_units, (int, float)):
        raise TypeError(f"request_units = {request_units!r}: a number is required")
    try:
        return float(request_units)
    except OverflowError:
        return math.inf
