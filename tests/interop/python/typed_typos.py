"""What `mypy --strict` must refuse beside the installed package: the lines that say so; never run.

Without hints of google.protobuf the base class of messages has any attribute.
"""

from ttl.v1 import container_pb2, expiry_service_pb2, item_service_pb2
from ttl_sidecar import AsyncClient, Check, Client, Item, PrimaryStore, SidecarError


class Incomplete(PrimaryStore):
    store_id = "typed"


def misuse(client: Client, error: SidecarError) -> None:
    Incomplete()  # refused
    Item(id="text", ts=1)  # refused
    Item(id=b"a")  # refused
    Item(id=b"a", ts=1, tll=5)  # refused
    client.trak("c", [])  # refused
    client.check("c", [Item(id=b"a", ts=1)])  # refused
    client.create_container("c", default_tll=60)  # refused
    client.create_container("c", "60")  # refused
    client.create_container("c", 60, indexing_mode=1.5)  # refused
    client.set_default_ttl("c", "60")  # refused
    client.get_container("c").defalt_ttl  # refused with types-protobuf
    client.status("c").container.backlogs  # refused with types-protobuf
    client.status("c").container.items.live_itms  # refused with types-protobuf
    client.list_items("c", True)  # refused
    client.list_items("c", partition_key="p")  # refused
    client.list_containers("c")  # refused
    client.check("c", [], as_of=5)  # refused
    client.touch("c", ["a"])  # refused
    client.touch("c", [], unless_within=5)  # refused
    client.touch("c", [], unless_touched_within=1.5)  # refused
    client.touch("c", [])[0].expires  # refused
    client.create_container("c", allow_touches=True)  # refused
    client.create_subscription("c", "a", gated=True)  # refused
    client.create_subscription("c", "a", gate=True, give_up_after="7d")  # refused
    client.forecast("c", until=5)  # refused
    client.forecast("c").backlog_itms  # refused with types-protobuf
    client.pause_deletes()  # refused
    client.set_max_deletes_per_second("5")  # refused
    client.add_usage("c", None)  # refused
    container_pb2.Container(id="c", defalt_ttl=5)  # refused
    container_pb2.Container(id=5)  # refused
    container_pb2.INDEXING_MODE_LAZZY  # refused
    expiry_service_pb2.PauseDeletesRequest(containr="c")  # refused
    client.expiry_service.PausDeletes  # refused
    client.expiry_service.PauseDeletes(item_service_pb2.GetItemRequest())  # refused with types-protobuf
    client.check("c", [Check(id=b"a")])[0].expires  # refused
    error.resaon  # refused
    print(error.field_violations[0].feild)  # refused


async def misuse_async(client: AsyncClient) -> None:
    client.check("c", [])[0]  # refused
    (await client.check("c", [Check(id=b"a")]))[0].expires  # refused
    for reply in client.check_stream("c", []):  # refused
        pass
    await client.create_container("c", default_tll=60)  # refused
