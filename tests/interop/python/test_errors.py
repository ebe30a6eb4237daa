"""What an error tells programs: the details in grpc-status-details-bin, of a scripted sidecar and of
the real one."""

import pickle
import time
import unittest

from google.protobuf import any_pb2, duration_pb2

from harness import Code, SidecarTestCase, TempDirTestCase
from scripted_sidecar import ScriptedSidecar, fails_with, serve_script
from ttl.errors.v1 import error_details_pb2 as pb
from ttl.v1 import item_service_pb2
from ttl_sidecar import Check, Client, FieldViolation, Item
from ttl_sidecar.errors import from_message

DETAILS = "grpc-status-details-bin"
INFO = pb.ErrorInfo(reason="TTL_OUT_OF_RANGE", domain="ttl-sidecar", metadata={"container": "c"})
VIOLATION = pb.BadRequest.FieldViolation(field="items[0].ttl", description="1 or more")
REQUEST = pb.BadRequest(field_violations=[VIOLATION])


def packed(name, serialized):
    return any_pb2.Any(type_url=f"type.googleapis.com/{name}", value=serialized)


def status(*details):
    return pb.ErrorStatus(code=3, message="told so", details=details).SerializeToString()


def info():
    return packed("google.rpc.ErrorInfo", INFO.SerializeToString())


def request():
    return packed("google.rpc.BadRequest", REQUEST.SerializeToString())


def retry(**delay):
    message = pb.RetryInfo(retry_delay=duration_pb2.Duration(**delay))
    return packed("google.rpc.RetryInfo", message.SerializeToString())


class Details(TempDirTestCase):
    def setUp(self):
        super().setUp()
        self.script = ScriptedSidecar()
        self.client = self.enterContext(Client(serve_script(self, self.script)))

    def error(self, *metadata, code=Code.INVALID_ARGUMENT, count=1):
        self.script.answer = fails_with(code, *metadata)
        with self.assert_refused(code, "told so") as refused:
            self.client.track("c", [Item(id=b"a", ts=1)] * count)
        return refused.error

    def assert_none(self, error):
        self.assertEqual((error.reason, error.domain, error.metadata, error.field_violations,
                          error.retry_after), (None, None, {}, (), None))

    def test_an_error_tells_its_reason_and_the_fields_that_were_refused(self):
        error = self.error((DETAILS, status(info(), request(), retry(seconds=2, nanos=500000000))))
        for seen in (error, pickle.loads(pickle.dumps(error)), error.about("entries 0 to 1")):
            self.assertEqual((seen.reason, seen.domain), ("TTL_OUT_OF_RANGE", "ttl-sidecar"))
            self.assertEqual(seen.metadata, {"container": "c"})
            self.assertEqual(seen.field_violations, (FieldViolation("items[0].ttl", "1 or more"),))
            self.assertEqual(seen.retry_after, 2.5)

    def test_the_error_of_one_part_of_many_has_the_details_too(self):
        error = self.error((DETAILS, status(info())), count=1500)
        self.assertIn("entries 0 to 999", error.message)
        self.assertEqual(error.reason, "TTL_OUT_OF_RANGE")

    def test_an_error_without_details_has_none(self):
        self.assert_none(self.error())
        self.assert_none(self.error((DETAILS, status())))

    def test_details_of_other_types_are_passed_over(self):
        other = packed("google.rpc.DebugInfo", b"\x0a\x01x")
        self.assert_none(self.error((DETAILS, status(other))))
        self.assertEqual(self.error((DETAILS, status(other, info()))).reason, "TTL_OUT_OF_RANGE")

    def test_bytes_that_cannot_be_read_leave_the_error_as_it_is(self):
        self.assert_none(self.error((DETAILS, b"\xff\xff\xff")))
        broken = packed("google.rpc.ErrorInfo", b"\x0a\x7fshort")
        no_text = packed("google.rpc.ErrorInfo", b"\x0a\x02\xff\xfe")
        for detail in (broken, no_text):
            error = self.error((DETAILS, status(detail, request())))
            self.assertEqual((error.reason, len(error.field_violations)), (None, 1))

    def test_the_retry_delay_is_that_of_the_metadata_if_both_are_there(self):
        both = (("grpc-retry-pushback-ms", "1"), (DETAILS, status(retry(seconds=2))))
        self.assertEqual(self.error(*both, code=Code.RESOURCE_EXHAUSTED).retry_after, 0.001)
        self.script.answer = fails_with(Code.RESOURCE_EXHAUSTED, (DETAILS, status(retry(seconds=2))))
        with self.assert_refused(Code.RESOURCE_EXHAUSTED) as refused:
            self.client.check("c", [Check(id=b"a")])
        self.assertEqual(refused.error.retry_after, 2)

    def test_the_error_of_one_message_of_a_stream_has_the_details_that_it_carries(self):
        error = from_message(item_service_pb2.MessageError(
            code=3, message="told so", status_details=status(info(), retry(seconds=2))))
        self.assertEqual((error.code, error.reason, error.retry_after),
                         (Code.INVALID_ARGUMENT, "TTL_OUT_OF_RANGE", 2))
        self.assert_none(from_message(item_service_pb2.MessageError(code=3, message="told so")))


class RealDetails(SidecarTestCase):
    flags = ("--max-queued-mib", "1")

    def setUp(self):
        super().setUp()
        self.client.create_container("c", 3600)
        self.now = int(time.time())

    def assert_tells(self, error, reason, metadata, fields=(), retry_after=None):
        self.assertEqual((error.reason, error.domain, error.metadata, error.retry_after),
                         (reason, "ttl-sidecar", metadata, retry_after))
        self.assertEqual(error.field_violations,
                         tuple(FieldViolation(field, error.message) for field in fields))

    def test_a_field_that_was_refused_is_named(self):
        with self.assert_refused(Code.INVALID_ARGUMENT) as refused:
            self.client.track("c", [Item(id=b"a", ts=self.now), Item(id=b"b", ts=self.now, ttl=0)])
        self.assert_tells(refused.error, "INVALID_FIELD", {}, ["items[1].ttl"])

    def test_the_reason_of_a_refusal_comes_with_its_facts(self):
        with self.assert_refused(Code.NOT_FOUND) as refused:
            self.client.get_container("no/such")
        self.assert_tells(refused.error, "CONTAINER_NOT_FOUND", {"container": "no/such"})
        present = self.client.get_container("c").etag
        with self.assert_refused(Code.ABORTED) as refused:
            self.client.delete_container("c", "another")
        self.assert_tells(refused.error, "ETAG_MISMATCH", {"container": "c", "etag": present})

    def test_a_refused_message_of_a_stream_has_the_details_of_the_call(self):
        good, bad = [Item(id=b"a", ts=self.now)], [Item(id=b"b", ts=self.now, ttl=0)]
        refused, applied = self.client.track_stream("c", [bad, good])
        self.assertIs(refused.error.code, Code.INVALID_ARGUMENT)
        self.assert_tells(refused.error, "INVALID_FIELD", {}, ["items[0].ttl"])
        self.assertEqual(len(applied.results()), 1)
        [reply] = self.client.check_stream("no/such", [[Check(id=b"a")]])
        self.assertIs(reply.error.code, Code.NOT_FOUND)
        self.assert_tells(reply.error, "CONTAINER_NOT_FOUND", {"container": "no/such"})

    def test_a_full_queue_says_when_to_try_again(self):
        # Larger than all that may wait.
        items = [Item(id=b"%d" % n, partition_key=bytes(2048), ts=self.now) for n in range(1000)]
        with self.assert_refused(Code.RESOURCE_EXHAUSTED, "queue is full") as refused:
            self.client.track("c", items)
        self.assert_tells(refused.error, "QUEUE_FULL", {}, retry_after=0.1)
        [reply] = self.client.track_stream("c", [items])
        self.assert_tells(reply.error, "QUEUE_FULL", {}, retry_after=0.1)
