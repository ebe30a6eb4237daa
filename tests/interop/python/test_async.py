"""What only the asyncio client has: tasks that are cancelled, asynchronous batches, iterators that
are left early, and a loop that is never held up."""

import asyncio
import contextlib
import inspect
import subprocess
import sys
import textwrap
import time
import unittest

from async_facade import LOOP
from harness import PATIENCE, Code, SidecarTestCase, TempDirTestCase, wait_until
from scripted_sidecar import ScriptedSidecar, serve_script
from ttl.v1 import expiry_service_pb2 as expiry_pb, item_service_pb2 as pb
from ttl_sidecar import AsyncClient, Check, Client, Item, SidecarError


def in_loop(test):
    """Runs a coroutine method in the loop of the process."""
    def run(self):
        LOOP.problems.clear()
        LOOP.run(asyncio.wait_for(test(self), PATIENCE))
        self.assertEqual(LOOP.problems, [])
    return run


class Blocked(TempDirTestCase):
    """A sidecar whose answers never come."""

    def setUp(self):
        super().setUp()
        self.script = ScriptedSidecar()
        self.under_way, self.ended = [], []
        self.address = serve_script(self, self.script)

        def answer(request, context):
            self.under_way.append(context)
            context.add_callback(lambda: self.ended.append(context))
            wait_until(lambda: not context.is_active(), "the call has ended")
            return pb.CheckVisibilityResponse()

        self.script.answer = answer

    async def until(self, condition):
        while not condition():
            await asyncio.sleep(0.01)

    @in_loop
    async def test_a_cancelled_task_ends_its_call(self):
        async with AsyncClient(self.address) as client:
            task = asyncio.create_task(client.check("c", [Check(id=b"a")]))
            await self.until(lambda: self.under_way)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await self.until(lambda: self.ended)

    @in_loop
    async def test_a_timeout_of_the_caller_is_the_callers(self):
        async with AsyncClient(self.address) as client:
            with self.assertRaises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await client.check("c", [Check(id=b"a")])

    @in_loop
    async def test_a_task_that_is_cancelled_while_it_pauses_ends(self):
        def refuse(request, context):
            self.under_way.append(context)
            context.set_trailing_metadata([("grpc-retry-pushback-ms", "30000")])
            context.abort(Code.UNAVAILABLE, "told so")

        self.script.answer = refuse
        async with AsyncClient(self.address) as client:
            task = asyncio.create_task(client.check("c", [Check(id=b"a")]))
            await self.until(lambda: self.under_way and not client._calls._under_way)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

    @in_loop
    async def test_calls_wait_side_by_side(self):
        async with AsyncClient(self.address, check_timeout=0.5) as client:
            begin = time.monotonic()
            calls = [client.check("c", [Check(id=b"a")]) for _ in range(4)]
            errors = await asyncio.gather(*calls, return_exceptions=True)
            self.assertEqual([error.code for error in errors], [Code.DEADLINE_EXCEEDED] * 4)
            self.assertLess(time.monotonic() - begin, PATIENCE / 2)

    @in_loop
    async def test_reports_go_on_after_their_task_was_cancelled(self):
        self.script.answer = lambda request, context: expiry_pb.ReportUsageResponse()
        async with AsyncClient(self.address) as client:
            client.add_usage("c", 1)
            client._usage._task.cancel()
            await asyncio.wait([client._usage._task])
            client.add_usage("c", 1)
            await self.until(lambda: self.script.calls)


class Streams(SidecarTestCase):
    def setUp(self):
        super().setUp()
        self.client.create_container("c", 3600)

    @in_loop
    async def test_batches_may_be_asynchronous(self):
        async def batches():
            for n in range(200):
                await asyncio.sleep(0)
                yield [Item(id=b"%d" % n, ts=1)]

        async with AsyncClient(self.sidecar.address) as client:
            replies = [reply.results() async for reply in client.track_stream("c", batches())]
            self.assertEqual(len(replies), 200)

    @in_loop
    async def test_what_batches_raise_reaches_the_reader(self):
        async def batches():
            yield [Check(id=b"a")]
            raise LookupError("no more")

        async with AsyncClient(self.sidecar.address) as client:
            with self.assertRaisesRegex(LookupError, "no more"):
                async for reply in client.check_stream("c", batches()):
                    reply.results()

    @in_loop
    async def test_a_stream_that_is_left_early_is_closed(self):
        closed = asyncio.Event()

        async def batches():
            try:
                while True:
                    yield [Check(id=b"a")]
                    await asyncio.sleep(0.01)
            finally:
                closed.set()

        async with AsyncClient(self.sidecar.address) as client:
            async with contextlib.aclosing(client.check_stream("c", batches())) as replies:
                async for reply in replies:
                    reply.results()
                    break
            await closed.wait()

    @in_loop
    async def test_a_reader_that_is_cancelled_gets_it(self):
        async with AsyncClient(self.sidecar.address) as client:
            async def read():
                async for message in client.watch_containers(heartbeat=PATIENCE):
                    started.set()

            started = asyncio.Event()
            task = asyncio.create_task(read())
            await started.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

    @in_loop
    async def test_a_cancelled_error_of_batches_reaches_the_reader(self):
        async def batches():
            yield [Check(id=b"a")]
            raise asyncio.CancelledError("of the batches")

        async with AsyncClient(self.sidecar.address) as client:
            with self.assertRaisesRegex(asyncio.CancelledError, "of the batches"):
                async for reply in client.check_stream("c", batches()):
                    reply.results()


class Close(SidecarTestCase):
    @in_loop
    async def test_close_leaves_no_task_behind(self):
        before = asyncio.all_tasks()
        self.client.create_container("c", 60)
        client = AsyncClient(self.sidecar.address)
        client.add_usage("c", 1)
        watch, replies = client.watch_containers(), client.check_stream("c", [[Check(id=b"1")]] * 9)
        await anext(watch), await anext(replies)
        await client.close()
        for reader in (watch, replies):
            with self.assertRaises(SidecarError) as refused:
                while True:
                    await anext(reader)
            self.assertIs(refused.exception.code, Code.CANCELLED)
        while left := asyncio.all_tasks() - before:
            await asyncio.wait(left)

    def test_a_child_of_a_process_that_used_grpc_is_refused(self):
        program = f"""
            import asyncio, os
            from ttl_sidecar import AsyncClient, Client, SidecarError
            Client({self.sidecar.address!r}).status()
            async def ask():
                try:
                    AsyncClient({self.sidecar.address!r})
                except SidecarError as error:
                    print(error.code.name, flush=True)
            if os.fork() == 0:
                asyncio.run(ask())
                os._exit(0)
            os.wait()
        """
        run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True,
                             text=True, timeout=PATIENCE)
        self.assertEqual(run.stdout.split(), ["FAILED_PRECONDITION"], run.stderr)


class Parity(unittest.TestCase):
    def test_both_clients_have_the_same_methods_with_the_same_parameters(self):
        def methods(client):
            return {name: list(inspect.signature(method).parameters.items())
                    for name, method in vars(client).items()
                    if not name.startswith("_") and inspect.isfunction(method)}

        def shown(client):
            return {name: [(key, parameter.kind, parameter.default) for key, parameter in found]
                    for name, found in methods(client).items()}

        self.assertEqual(shown(AsyncClient), shown(Client))

    def test_the_methods_are_documented_alike(self):
        self.assertIn("One result per item", AsyncClient.track.__doc__)
        self.assertIn("did not take", AsyncClient.usage_failures.__doc__)
        self.assertNotIn("thread", AsyncClient.add_usage.__doc__)
