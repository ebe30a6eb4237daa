"""A user's program, for `mypy --strict` beside the installed package; never run."""

import asyncio
import contextlib
from collections.abc import Sequence

from ttl.v1 import (
    container_pb2, expiry_service_pb2, feed_pb2, feed_service_pb2, hold_pb2, hold_service_pb2)
from ttl_sidecar import (
    Answer, AsyncClient, AsyncPrimaryStore, Client, Check, Item, Key, PlacedHold, PlaceHoldResult,
    PrimaryStore, SidecarError, Touched, TouchResult, TrackResult, serve_async_store, serve_store)


class Store(PrimaryStore):
    store_id = "typed"

    def exclusive(self, container: str, keys: Sequence[Key]) -> contextlib.nullcontext[None]:
        return contextlib.nullcontext()

    def read(self, container: str, key: Key) -> Item | None:
        return Item(id=key.id, ts=1, partition_key=key.partition_key)

    def delete(self, container: str, keys: Sequence[Key]) -> None:
        pass


class AsyncStore(AsyncPrimaryStore):
    store_id = "typed"

    def __init__(self) -> None:
        self.lock = asyncio.Lock()

    def exclusive(self, container: str, keys: Sequence[Key]) -> asyncio.Lock:
        return self.lock

    async def read(self, container: str, key: Key) -> Item | None:
        return None

    async def delete(self, container: str, keys: Sequence[Key]) -> None:
        pass

    async def scan(self, container: str, after: Key | None, limit: int) -> Sequence[Item]:
        return []


def use(client: Client) -> list[TrackResult]:
    policy = container_pb2.DeletePolicy(max_deletes_per_second=5)
    container: container_pb2.Container = client.create_container(
        "c", 60, delete_policy=policy, indexing_mode="INDEXING_MODE_CONSISTENT")
    ttl: int = container.default_ttl
    status: expiry_service_pb2.ContainerExpiryStatus = client.status("c").container
    limit: float | None = client.set_max_deletes_per_second(ttl + status.backlog)
    request = expiry_service_pb2.ListStuckItemsRequest(container="c", page_size=5)
    stuck: str = client.expiry_service.ListStuckItems(request, timeout=1.0).next_page_token
    print(limit, stuck, client.usage_failures)
    forecast: expiry_service_pb2.GetForecastResponse = client.forecast("c", step=60)
    print(forecast.backlog_items, list(client.list_containers(id_prefix="c")))
    try:
        answer: Answer = client.check("c", [Check(id=b"a")])[0]
        print(answer.expired, client.check("c", [Check(id=b"a")], as_of=answer.judged_at))
    except SidecarError as error:
        reason: str | None = error.reason
        print(reason, [violation.field for violation in error.field_violations])
    placed: PlacedHold = client.place_hold("c", "h", "audit", keys=[Key(b"", b"a")])
    result: PlaceHoldResult = placed.results[0]
    holds: list[hold_pb2.Hold] = list(client.list_holds())
    print(result, holds, [key.id for key in client.list_held_keys("c", "h")])
    hold = hold_service_pb2.ReleaseHoldRequest(container="c", hold_id="h")
    client.hold_service.ReleaseHold(hold, timeout=1.0)
    subscription: feed_pb2.Subscription = client.create_subscription(
        "c", "archive", kinds=[feed_pb2.EVENT_KIND_EXPIRED], consumer="cn:archiver", gate=True,
        give_up_after=604800)
    response: feed_service_pb2.WatchEventsResponse = next(client.watch_events(["c"], b"token"))
    event: feed_pb2.Event = response.events[0]
    acknowledged: int = client.acknowledge("c", subscription.name, response.epoch, event.sequence)
    given_up: list[str] = list(event.given_up_subscriptions)
    print(acknowledged, event.partition_key, given_up, subscription.give_up_after.seconds)
    client.create_container("d", feed=feed_pb2.FeedSettings(max_bytes=1 << 20), allow_touch=True)
    touched: Touched = client.touch("d", [Key(b"", b"a")], unless_touched_within=60)[0]
    touch: TouchResult = touched.result
    later: int | None = touched.expire_time
    print(touch is TouchResult.RECENT, later, touched.touch_time + 1)
    serve_store(Store(), "unix:/run/my-store/store.sock")
    return client.track("c", [Item(id=b"a", ts=1)])


async def use_async(client: AsyncClient) -> bool:
    results: list[TrackResult] = await client.track("c", [Item(id=b"a", ts=1)])
    async for reply in client.check_stream("c", [[Check(id=b"a")]]):
        print(reply.results()[0].expire_time, results)
    print((await client.place_hold("c", "h", "audit", all_items=True)).hold.create_time)
    async for key in client.list_held_keys("c", "h"):
        print(key.partition_key)
    async for view in client.list_items("c", expired_only=True, partition_key=b"p"):
        print(view.item.sequence)
    request = expiry_service_pb2.ListStuckItemsRequest(container="c")
    print((await client.expiry_service.ListStuckItems(request)).next_page_token)
    print((await client.touch("c", [Key(b"", b"a")]))[0].result)
    async with contextlib.aclosing(client.watch_containers(touch=True)) as messages:
        print((await anext(messages)).revision)
    async with contextlib.aclosing(client.watch_subscription("c", "archive")) as responses:
        async for response in responses:
            print([event.id for event in response.events], response.watermark.seconds)
    await client.delete_subscription("c", (await client.get_subscription("c", "a")).name)
    await serve_async_store(AsyncStore(), "unix:/run/my-store/store.sock")
    return await client.is_serving()
