"""Usage that is reported in the background."""

import threading
import time
import unittest
import unittest.mock

import grpc

from harness import PATIENCE, Code, SidecarTestCase, TempDirTestCase, wait_until
from scripted_sidecar import ScriptedSidecar, serve_script
from ttl.v1 import expiry_service_pb2 as pb
from ttl_sidecar import Client, SidecarError
from ttl_sidecar import usage
from ttl_sidecar.usage import UsageTally


def fails(code):
    return SidecarError(code, "told so")


class Tally(unittest.TestCase):
    def setUp(self):
        self.now = 1000.0
        self.enterContext(unittest.mock.patch.object(usage.time, "monotonic", lambda: self.now))
        self.tally = UsageTally()

    def settle_all(self, error=None):
        """Reports once, each with that outcome; (container, units, seconds) of what was sent."""
        reports, sent = self.tally.take(), []
        while reports:
            request = reports[0].request
            sent.append((request.container, request.request_units,
                         request.period.ToNanoseconds() / 1e9))
            reports = self.tally.settle(reports, error)
        return sent

    def test_uses_add_up_and_then_zero_is_reported(self):
        self.tally.add("c", 2)
        self.tally.add("c", 0.5)
        self.now += 1
        self.assertEqual(self.settle_all(), [("c", 2.5, 1)])
        self.now += 2
        self.assertEqual(self.settle_all(), [("c", 0, 2)])

    def test_a_container_is_reported_from_the_last_report_on(self):
        self.tally.add("c", 1)
        self.now += 1
        self.settle_all()
        self.now += 0.75
        self.tally.add("d", 1)
        self.now += 0.25
        self.assertEqual(self.settle_all(), [("c", 0, 1), ("d", 1, 1)])

    def test_what_was_not_answered_is_added_to_the_next_report(self):
        for container in ("c", "d"):
            self.tally.add(container, 10)
        self.now += 1
        self.assertEqual(self.settle_all(fails(Code.UNAVAILABLE)), [("c", 10, 1)])
        self.assertEqual(self.tally.failures, 1)
        self.tally.add("d", 1)
        self.now += 1
        self.assertEqual(self.settle_all(), [("c", 10, 2), ("d", 11, 2)])

    def test_what_waits_longer_than_a_minute_is_told_at_its_average_rate(self):
        self.tally.add("c", 120)
        self.now += 120
        self.assertEqual(self.settle_all(), [("c", 60, 60)])

    def test_a_container_that_is_refused_is_dropped_until_it_is_used_again(self):
        for code in (Code.NOT_FOUND, Code.INVALID_ARGUMENT):
            self.tally.add("c", 1)
            self.now += 1
            self.assertEqual(len(self.settle_all(fails(code))), 1)
            self.assertEqual(self.settle_all(), [])
        self.assertEqual(self.tally.failures, 2)

    def test_what_is_no_usage_is_not_counted(self):
        for units in (-1, float("nan"), float("inf")):
            self.tally.add("c", units)
        self.assertEqual(self.settle_all(), [])
        for container, units, error in ((None, 1, "container"), ("c", "1", "request_units"),
                                        ("c", True, "request_units")):
            with self.assertRaisesRegex(TypeError, error):
                self.tally.add(container, units)

    def test_usage_beyond_the_range_of_a_float_is_no_error(self):
        self.tally.add("c", 10**400)
        self.assertEqual(self.settle_all(), [])
        for _ in range(10):
            self.tally.add("c", 10**308)
        self.now += 1
        self.assertEqual(self.settle_all(), [("c", float("inf"), 1)])

    def test_further_containers_are_not_reported(self):
        for n in range(usage.MAX_CONTAINERS + 1):
            self.tally.add(f"{n}", 1)
        self.tally.add("0", 1)
        sent = self.settle_all()
        self.assertEqual((len(sent), sent[0][:2]), (usage.MAX_CONTAINERS, ("0", 2)))


class Reported(SidecarTestCase):
    def test_usage_shows_in_the_status_and_goes_on_with_zero(self):
        self.client.create_container("c", 60, delete_policy={"request_units_per_second": 1e6})
        budget = lambda: self.client.status("c").container.budget
        self.client.add_usage("c", 5000)
        wait_until(lambda: budget().used_by_requests > 0, "the usage is in the status")
        wait_until(lambda: budget().HasField("used_by_requests") and
                   budget().used_by_requests == 0, "no usage is reported, too")
        self.assertEqual(self.client.usage_failures, 0)


class Unanswered(TempDirTestCase):
    def setUp(self):
        super().setUp()
        self.script = ScriptedSidecar()
        self.asked, self.release = threading.Event(), threading.Event()
        self.addCleanup(self.release.set)
        self.address = serve_script(self, self.script)

    def block(self, request, context):
        self.asked.set()
        self.release.wait(PATIENCE)
        return pb.ReportUsageResponse()

    def test_usage_is_never_waited_for_and_close_ends_its_report(self):
        self.script.answer = self.block
        client = Client(self.address)
        begin = time.monotonic()
        client.add_usage("c", 1)
        self.assertTrue(self.asked.wait(PATIENCE))
        for _ in range(1000):
            client.add_usage("c", 1)
        client.close()
        self.assertLess(time.monotonic() - begin, PATIENCE / 2)
        client.add_usage("c", 1)  # after the end it is not counted, and no error

    def test_a_report_is_sent_once_and_its_failure_is_only_counted(self):
        def refuse(request, context):
            context.abort(Code.UNAVAILABLE, "told so")

        self.script.answer = refuse
        client = self.enterContext(Client(self.address))
        client.add_usage("c", 1)
        wait_until(lambda: client.usage_failures == 1, "the failure is counted")
        self.assertEqual(self.script.calls, {"ReportUsage": 1})

    def test_an_unexpected_error_does_not_end_the_reports(self):
        self.script.answer = lambda request, context: pb.ReportUsageResponse()
        client = self.enterContext(Client(self.address))
        tally = client._usage.tally
        take = unittest.mock.Mock(side_effect=[OverflowError("told so"), tally.take()])
        with unittest.mock.patch.object(tally, "take", take), self.assertLogs("ttl_sidecar"):
            client.add_usage("c", 1)
            wait_until(lambda: take.call_count == 1, "the error")
        wait_until(lambda: self.script.calls, "the next report")

    def test_a_report_does_not_wait_for_a_sidecar_that_is_away(self):
        client = self.enterContext(Client(f"unix:{self.folder}/nobody.sock"))
        client.add_usage("c", 1)
        wait_until(lambda: client.usage_failures, "the failure is counted", PATIENCE / 2)
