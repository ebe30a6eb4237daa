"""A store of asyncio: the tests of PrimaryStore, with its methods as coroutines, and what only the
event loop brings."""

import asyncio
import contextlib

import grpc
import grpc.aio

import test_store
from async_facade import LOOP
from harness import PATIENCE, MemoryStore, TempDirTestCase
from ttl.v1 import primary_store_service_pb2 as pb, primary_store_service_pb2_grpc
from ttl_sidecar import AsyncPrimaryStore, Item, PrimaryStore, serve_async_store


class AsyncFront(AsyncPrimaryStore):
    """Gives the answers of a PrimaryStore, by coroutines."""

    def __init__(self, store):
        self.store = store

    store_id = property(lambda self: self.store.store_id)
    max_batch_items = property(lambda self: self.store.max_batch_items)
    knows_expire_at = property(lambda self: self.store.knows_expire_at)

    def now_ns(self):
        return self.store.now_ns()

    @contextlib.asynccontextmanager
    async def exclusive(self, container, keys):
        await asyncio.sleep(0)
        with self.store.exclusive(container, keys):
            yield

    async def read(self, container, key):
        await asyncio.sleep(0)
        return self.store.read(container, key)

    async def delete(self, container, keys):
        await asyncio.sleep(0)
        self.store.delete(container, keys)


class ScanningFront(AsyncFront):
    async def scan(self, container, after, limit):
        await asyncio.sleep(0)
        return self.store.scan(container, after, limit)


class PlainStore(AsyncPrimaryStore):
    """Has no coroutine at all."""

    store_id = "plain"

    def __init__(self):
        self.items = MemoryStore()

    def exclusive(self, container, keys):
        return self.items.exclusive(container, keys)

    def read(self, container, key):
        return self.items.read(container, key)

    def delete(self, container, keys):
        self.items.delete(container, keys)

    def scan(self, container, after, limit):
        return self.items.scan(container, after, limit)


def serve_in_loop(test, store, address):
    server = LOOP.run(serve_async_store(store, address))
    test.addCleanup(lambda: LOOP.run(server.stop(0)))


class AsyncConditionalDelete(test_store.ConditionalDelete):
    def serve(self, store, address):
        can_scan = type(store).scan is not PrimaryStore.scan
        serve_in_loop(self, (ScanningFront if can_scan else AsyncFront)(store), address)


class AsyncSweep(test_store.Sweep):
    def serve(self):
        serve_in_loop(self, ScanningFront(self.store), self.store_address)


class AsyncSocket(TempDirTestCase):
    def test_a_store_can_be_stopped_and_served_again(self):
        address = f"unix:{self.folder}/store.sock"

        async def serve_thrice():
            for _ in range(3):
                server = await serve_async_store(PlainStore(), address)
                with self.assertRaisesRegex(OSError, "in use"):
                    await serve_async_store(PlainStore(), address)
                async with grpc.aio.insecure_channel(address) as channel:
                    stub = primary_store_service_pb2_grpc.PrimaryStoreServiceStub(channel)
                    info = await stub.GetStoreInfo(pb.GetStoreInfoRequest(), timeout=PATIENCE)
                    self.assertEqual(info.store_id, "plain")
                await server.stop(0)

        LOOP.run(serve_thrice())


class Batches(TempDirTestCase):
    def setUp(self):
        super().setUp()
        self.address = f"unix:{self.folder}/store.sock"
        self.request = pb.DeleteItemsRequest(
            container="c", items=[pb.ExpiredItem(id=b"a", ts=1, ttl=1, expire_time=2)])
        self.request.not_after.FromSeconds(2**32)

    def stub(self):
        channel = self.enterContext(grpc.insecure_channel(self.address))
        return primary_store_service_pb2_grpc.PrimaryStoreServiceStub(channel)

    def test_methods_need_not_be_coroutines(self):
        store = PlainStore()
        store.items.write("c", Item(id=b"a", ts=1, ttl=1))
        serve_in_loop(self, store, self.address)
        [result] = self.stub().DeleteItems(self.request, timeout=PATIENCE).results
        self.assertEqual(result.outcome, pb.DELETE_OUTCOME_DELETED)
        self.assertEqual(store.items.items("c"), [])

    def test_a_batch_that_was_begun_is_finished_though_nobody_waits_for_it(self):
        """As by the threads of PrimaryStore. A delete that stops halfway is what a store is worst
        at."""
        began, given_up, go_on, done = (LOOP.run(self.event()) for _ in range(4))

        class Slow(PlainStore):
            async def DeleteItems(self, request, context):
                try:
                    return await super().DeleteItems(request, context)
                finally:
                    given_up.set()

            async def delete(self, container, keys):
                began.set()
                await go_on.wait()
                self.items.delete(container, keys)
                done.set()

        store = Slow()
        store.items.write("c", Item(id=b"a", ts=1, ttl=1))
        serve_in_loop(self, store, self.address)
        call = self.stub().DeleteItems.future(self.request, timeout=PATIENCE)
        LOOP.run(began.wait())
        call.cancel()
        LOOP.run(asyncio.wait_for(given_up.wait(), PATIENCE))
        LOOP.run(self.set(go_on))
        LOOP.run(asyncio.wait_for(done.wait(), PATIENCE))
        self.assertEqual(store.items.items("c"), [])

    def test_stop_waits_for_batches_whose_call_it_cancelled(self):
        for error in (None, OSError("no space")):
            with self.subTest(error=error):
                self.stop_while_deleting(error)

    def stop_while_deleting(self, error):
        began, go_on = (LOOP.run(self.event()) for _ in range(2))

        class Slow(PlainStore):
            async def delete(self, container, keys):
                began.set()
                await go_on.wait()
                if error is not None:
                    raise error
                self.items.delete(container, keys)

        store = Slow()
        store.items.write("c", Item(id=b"a", ts=1, ttl=1))

        async def serve_and_stop():
            server = await serve_async_store(store, self.address)
            async with grpc.aio.insecure_channel(self.address) as channel:
                stub = primary_store_service_pb2_grpc.PrimaryStoreServiceStub(channel)
                call = stub.DeleteItems(self.request, timeout=PATIENCE)
                await began.wait()
                self.assertTrue(await server.wait_for_termination(0))
                stopping = asyncio.create_task(server.stop(0))
                with self.assertRaises(grpc.aio.AioRpcError):
                    await call
                with self.assertRaisesRegex(OSError, "in use"):
                    await serve_async_store(PlainStore(), self.address)
                self.assertFalse(stopping.done())
                go_on.set()
                await asyncio.wait_for(stopping, PATIENCE)
                self.assertFalse(await server.wait_for_termination(0))

        if error is None:
            LOOP.run(serve_and_stop())
            self.assertEqual(store.items.items("c"), [])
        else:
            with self.assertLogs("ttl_sidecar", "ERROR") as logs:
                LOOP.run(serve_and_stop())
            self.assertIn("no space", logs.output[0])

    async def event(self):
        return asyncio.Event()

    async def set(self, event):
        event.set()
