"""A server that answers what the test tells it, on a real socket."""

import concurrent.futures

import grpc

from ttl.v1 import (
    container_service_pb2_grpc, expiry_service_pb2_grpc, feed_service_pb2_grpc,
    hold_service_pb2_grpc, item_service_pb2_grpc, maintenance_service_pb2_grpc)


class ScriptedSidecar(item_service_pb2_grpc.ItemServiceServicer,
                      container_service_pb2_grpc.ContainerServiceServicer,
                      expiry_service_pb2_grpc.ExpiryServiceServicer,
                      feed_service_pb2_grpc.FeedServiceServicer,
                      hold_service_pb2_grpc.HoldServiceServicer,
                      maintenance_service_pb2_grpc.MaintenanceServiceServicer):
    """Counts calls by method, and answers each by what `answer` returns, or with the error that it
    sets in the context."""

    def __init__(self):
        self.calls = {}
        self.answer = None

    def __getattribute__(self, name):
        if not name[0].isupper():
            return super().__getattribute__(name)

        def handle(request, context):
            self.calls[name] = self.calls.get(name, 0) + 1
            return self.answer(request, context)
        return handle


def serve_script(test, script):
    """Serves `script` until the end of the test; returns the address."""
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=4))
    item_service_pb2_grpc.add_ItemServiceServicer_to_server(script, server)
    container_service_pb2_grpc.add_ContainerServiceServicer_to_server(script, server)
    expiry_service_pb2_grpc.add_ExpiryServiceServicer_to_server(script, server)
    feed_service_pb2_grpc.add_FeedServiceServicer_to_server(script, server)
    hold_service_pb2_grpc.add_HoldServiceServicer_to_server(script, server)
    maintenance_service_pb2_grpc.add_MaintenanceServiceServicer_to_server(script, server)
    address = f"unix:{test.folder}/scripted.sock"
    server.add_insecure_port(address)
    server.start()
    test.addCleanup(lambda: server.stop(0).wait())
    return address


def fails_with(code, *metadata):
    """An answer that is always that error, with that trailing metadata."""
    def answer(request, context):
        context.set_trailing_metadata(metadata)
        context.abort(code, "told so")
    return answer
