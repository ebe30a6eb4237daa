"""Checked by mypy, never run: the hints say what the package takes and gives, and refuse what it
does not; an ignore that is not needed fails the check."""

import contextlib
from collections.abc import Iterator, Sequence

from ttl_sidecar import Answer, Check, Client, Item, Key, PrimaryStore, SidecarError, TrackResult


class Store(PrimaryStore):
    store_id = "typed"

    def exclusive(self, container: str, keys: Sequence[Key]) -> contextlib.nullcontext:
        return contextlib.nullcontext()

    def read(self, container: str, key: Key) -> Item | None:
        return Item(id=key.id, ts=1, partition_key=key.partition_key)

    def delete(self, container: str, keys: Sequence[Key]) -> None:
        pass


class Incomplete(PrimaryStore):
    store_id = "typed"


def use(client: Client) -> Iterator[bool]:
    results: list[TrackResult] = client.track("c", [Item(id=b"a", ts=1, ttl=None, sequence=2)])
    answer: Answer = client.check("c", (Check(id=b"a", ts=1) for _ in results))[0]
    expire_time: int | None = answer.expire_time
    yield answer.expired and expire_time == 5
    for reply in client.check_stream("c", [[Check(id=b"a")]]):
        yield reply.results()[0].expired
    try:
        client.set_default_ttl("c", None)
    except SidecarError as error:
        delay: float | None = error.retry_after
        yield delay is None
    Store()
    Incomplete()  # type: ignore[abstract]
    Item(id="text", ts=1)  # type: ignore[arg-type]
    Item(id=b"a")  # type: ignore[call-arg]
    Item(id=b"a", ts=1.5)  # type: ignore[arg-type]
    client.check("c", [Item(id=b"a", ts=1)])  # type: ignore[list-item]
    client.set_default_ttl("c", "60")  # type: ignore[arg-type]
    yield expire_time > 5  # type: ignore[operator]
