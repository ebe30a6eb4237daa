"""Interceptors of gRPC that are given to a client."""

import collections

import grpc
import grpc.aio

from async_facade import AsyncFacade
from harness import PATIENCE, Code, SidecarTestCase, TempDirTestCase, wait_until
from scripted_sidecar import ScriptedSidecar, serve_script
from ttl.v1 import container_service_pb2, expiry_service_pb2, item_service_pb2 as pb
from ttl_sidecar import Check, Client, Item

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

Details = collections.namedtuple(
    "Details", "method timeout metadata credentials wait_for_ready compression")


class _Details(Details, grpc.ClientCallDetails):
    pass


class Tracer(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor,
             grpc.StreamStreamClientInterceptor):
    """Notes the methods, and adds a traceparent."""

    def __init__(self):
        self.methods = []

    def _intercept(self, continuation, details, request):
        self.methods.append(details.method.rpartition("/")[2])
        metadata = [*(details.metadata or ()), ("traceparent", TRACE)]
        return continuation(_Details(details.method, details.timeout, metadata,
                                     details.credentials, details.wait_for_ready,
                                     details.compression), request)

    intercept_unary_unary = intercept_unary_stream = intercept_stream_stream = _intercept


class _AsyncTracer:
    def _note(self, details):
        method = details.method if isinstance(details.method, str) else details.method.decode()
        self.methods.append(method.rpartition("/")[2])
        metadata = details.metadata or grpc.aio.Metadata()
        metadata.add("traceparent", TRACE)
        return details._replace(metadata=metadata)


# grpc.aio takes one interceptor for one kind of call.
class AsyncUnary(_AsyncTracer, grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation, details, request):
        return await continuation(self._note(details), request)


class AsyncServerStream(_AsyncTracer, grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(self, continuation, details, request):
        return await continuation(self._note(details), request)


class AsyncStream(_AsyncTracer, grpc.aio.StreamStreamClientInterceptor):
    async def intercept_stream_stream(self, continuation, details, requests):
        return await continuation(self._note(details), requests)


def traced_client(address, **options):
    tracer = Tracer()
    return Client(address, interceptors=[tracer], **options), tracer.methods


def traced_async_client(address, **options):
    methods, interceptors = [], [AsyncUnary(), AsyncServerStream(), AsyncStream()]
    for interceptor in interceptors:
        interceptor.methods = methods
    return AsyncFacade(address, interceptors=interceptors, **options), methods


MAKERS = (traced_client, traced_async_client)


class Interceptors(TempDirTestCase):
    def setUp(self):
        super().setUp()
        self.script = ScriptedSidecar()
        self.address = serve_script(self, self.script)

    def answer(self, request, context):
        self.traces.append(dict(context.invocation_metadata()).get("traceparent"))
        return self.response

    def answer_stream(self, request, context):
        self.traces.append(dict(context.invocation_metadata()).get("traceparent"))
        yield self.response

    def test_every_kind_of_call_is_seen_and_carries_what_was_added(self):
        answers = pb.CheckVisibilityResponse(visibilities=[1], expire_times=[0])
        calls = [  # method, response, whether it is a stream, call
            ("CheckVisibility", answers, False, lambda client: client.check("c", [Check(id=b"a")])),
            ("GetExpiryStatus", expiry_service_pb2.GetExpiryStatusResponse(), False,
             lambda client: client.status()),
            ("StreamCheckVisibility", pb.StreamCheckVisibilityResponse(response=answers), True,
             lambda client: next(client.check_stream("c", [[Check(id=b"a")]])).results()),
            ("WatchContainers", container_service_pb2.WatchContainersResponse(), True,
             lambda client: next(client.watch_containers())),
        ]
        for make in MAKERS:
            client, methods = make(self.address)
            self.enterContext(client)
            for method, self.response, is_stream, call in calls:
                with self.subTest(method, make=make.__name__):
                    self.traces = []
                    self.script.answer = self.answer_stream if is_stream else self.answer
                    call(client)
                    self.assertEqual(self.traces, [TRACE])
                    self.assertEqual(methods[-1:], [method])
            self.assertEqual(methods, [method for method, *_ in calls])

    def test_every_attempt_is_seen(self):
        failures = [1, 1]

        def answer(request, context):
            if failures:
                failures.pop()
                context.abort(Code.UNAVAILABLE, "told so")
            return pb.CheckVisibilityResponse(visibilities=[1], expire_times=[0])

        self.script.answer = answer
        for make in MAKERS:
            failures[:] = [1, 1]
            client, methods = make(self.address)
            self.enterContext(client).check("c", [Check(id=b"a")])
            self.assertEqual(methods, ["CheckVisibility"] * 3, make.__name__)

    def test_errors_are_as_without_them(self):
        self.script.answer = lambda request, context: context.abort(Code.NOT_FOUND, "told so")
        for make in MAKERS:
            client, _ = make(self.address)
            self.enterContext(client)
            for call in (lambda: client.check("c", [Check(id=b"a")]),
                         lambda: next(client.check_stream("c", [[Check(id=b"a")]])),
                         lambda: next(client.watch_containers())):
                with self.subTest(make=make.__name__), self.assert_refused(Code.NOT_FOUND,
                                                                          "told so"):
                    call()

    def test_what_an_interceptor_raises_reaches_the_caller(self):
        class Failing(grpc.UnaryUnaryClientInterceptor):
            def intercept_unary_unary(self, continuation, details, request):
                raise LookupError("no token")

        class AsyncFailing(grpc.aio.UnaryUnaryClientInterceptor):
            async def intercept_unary_unary(self, continuation, details, request):
                raise LookupError("no token")

        for client in (Client(self.address, interceptors=[Failing()]),
                       AsyncFacade(self.address, interceptors=[AsyncFailing()])):
            self.enterContext(client)
            with self.assertRaisesRegex(LookupError, "no token"):
                client.status()
            client.add_usage("c", 1)
            wait_until(lambda: client.usage_failures >= 2, "usage is reported all the same")


class InterceptedSidecar(SidecarTestCase):
    def test_streams_of_many_messages_and_close_work_through_interceptors(self):
        self.client.create_container("c", 60)
        for make in MAKERS:
            client, _ = make(self.sidecar.address)
            batches = [[Item(id=b"%d" % n, ts=1)] for n in range(200)]
            self.assertEqual(len([reply.results() for reply in client.track_stream("c", batches)]),
                             200)
            watch = client.watch_containers(heartbeat=PATIENCE / 5)
            next(watch)
            client.close()
            with self.subTest(make.__name__), self.assert_refused(Code.CANCELLED, "closed"):
                next(watch)
