"""AsyncClient behind the methods of Client, so that the tests of one are those of the other."""

import asyncio
import inspect
import threading

from harness import PATIENCE
from ttl_sidecar import AsyncClient

AsyncClient.__init__.__kwdefaults__.update(
    check_timeout=PATIENCE, report_timeout=PATIENCE, admin_timeout=PATIENCE)


class Loop:
    """An event loop in a thread of its own. grpc.aio wants one for the whole process."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._note)
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.problems = []  # exceptions that nobody was told

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _note(self, loop, context):
        self.problems.append(context)


LOOP = Loop()


class Iterator:
    """An asynchronous generator, read by threads."""

    def __init__(self, generator):
        self._generator = generator

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return LOOP.run(anext(self._generator))
        except StopAsyncIteration:
            raise StopIteration from None

    def close(self):
        LOOP.run(self._generator.aclose())


class AsyncFacade:
    """Makes an AsyncClient in the loop; its methods block."""

    def __init__(self, *arguments, **options):
        self._client = LOOP.run(self._make(*arguments, **options))

    @staticmethod
    async def _make(*arguments, **options):
        return AsyncClient(*arguments, **options)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __getattr__(self, name):
        attribute = getattr(self._client, name)
        if not callable(attribute):
            return attribute

        async def call(arguments, options):
            result = attribute(*arguments, **options)
            return await result if inspect.isawaitable(result) else result

        def blocking(*arguments, **options):
            result = LOOP.run(call(arguments, options))
            return Iterator(result) if inspect.isasyncgen(result) else result
        return blocking
