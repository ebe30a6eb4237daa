"""The reports of usage of an asyncio client."""

from __future__ import annotations

import asyncio
import logging
from typing import Awaitable, Callable

from ttl.v1 import expiry_service_pb2 as pb
from ttl_sidecar.usage import REPORT_INTERVAL, UsageReport, UsageTally


_log = logging.getLogger(__name__)


class AsyncUsageReporter:
    """Reports a tally at regular intervals, by a task that starts with the first use."""

    def __init__(self, send: Callable[[pb.ReportUsageRequest], Awaitable[object]],
                 interval: float = REPORT_INTERVAL):
        self.tally = UsageTally()
        self._send = send
        self._interval = interval
        self._stopped = False
        self._task: asyncio.Task[None] | None = None

    def add(self, container: str, request_units: float) -> None:
        self.tally.add(container, request_units)
        if (self._task is None or self._task.done()) and not self._stopped:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def stop(self) -> None:
        """Usage since the last report is dropped."""
        self._stopped = True
        if self._task is not None:
            self._task.cancel()

    async def join(self) -> None:
        """Waits until nothing is reported any more. To be called after stop()."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._interval)
            try:
                await self._report()
            except Exception:  # the next report is due all the same
                _log.exception("the usage of this second was not reported")

    async def _report(self) -> None:
        reports = self.tally.take()
        while reports:
            reports = self.tally.settle(reports, await self._outcome(reports[0]))

    async def _outcome(self, report: UsageReport) -> Exception | None:
        try:
            await self._send(report.request)
        except Exception as error:  # of the sidecar or an interceptor: counted in usage_failures
            return error
        return None
