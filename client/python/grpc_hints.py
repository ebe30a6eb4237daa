"""Type hints of the service stubs, which grpc_python_plugin does not write.

A stub on a channel of grpc.aio has the same methods with other results: that is the class
...AsyncStub, which exists only in the type hints.
"""

from google.protobuf import descriptor_pb2

_HEAD = '''\
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Iterable, Iterator
from typing import Any, Generic, TypeVar

{imports}

_Request = TypeVar("_Request", contravariant=True)
_Result = TypeVar("_Result", covariant=True)
_Metadata = Iterable[tuple[str, str | bytes]]

class _Method(Generic[_Request, _Result]):
    def __call__(
        self, request: _Request, timeout: float | None = ..., metadata: _Metadata | None = ...,
        credentials: Any = ..., wait_for_ready: bool | None = ..., compression: Any = ...
    ) -> _Result: ...
    # Of unary calls that are not of grpc.aio.
    def with_call(self, request: _Request, timeout: float | None = ..., **options: Any) -> Any: ...
    def future(self, request: _Request, timeout: float | None = ..., **options: Any) -> Any: ...
'''


def write_hints(descriptor_set, folder):
    """Writes X_pb2_grpc.pyi for each file of `descriptor_set`, a serialized FileDescriptorSet, that
    has services."""
    files = descriptor_pb2.FileDescriptorSet.FromString(descriptor_set).file
    modules = {f".{file.package}.{message.name}": _module(file)
               for file in files for message in file.message_type}
    for file in files:
        if file.service:
            hints = _hints(file, modules)
            (folder / f"{_module(file).replace('.', '/')}_grpc.pyi").write_text(hints)


def _module(file):
    return file.name.removesuffix(".proto").replace("/", ".") + "_pb2"


def _hints(file, modules):
    types = [type for service in file.service for method in service.method
             for type in (method.input_type, method.output_type)]
    imports = "\n".join(sorted({f"import {modules[type]}" for type in types}))
    text = [_HEAD.format(imports=imports)]
    for service in file.service:
        text += [_stub(service, modules, is_async) for is_async in (False, True)]
        text.append(_servicer(service, modules))
    return "\n".join(text)


def _name(type, modules):
    return f"{modules[type]}.{type.rpartition('.')[2]}"


def _stub(service, modules, is_async):
    lines = [f"class {service.name}{'Async' if is_async else ''}Stub:",
             "    def __init__(self, channel: Any) -> None: ..."]
    for method in service.method:
        request, result = _name(method.input_type, modules), _name(method.output_type, modules)
        if method.client_streaming:
            either = f" | AsyncIterable[{request}]" if is_async else ""
            request = f"Iterable[{request}]{either}"
        if method.server_streaming:
            result = f"{'Async' if is_async else ''}Iterator[{result}]"
        elif is_async:
            result = f"Awaitable[{result}]"
        lines.append(f"    {method.name}: _Method[{request}, {result}]")
    return "\n".join(lines) + "\n"


def _servicer(service, modules):
    lines = [f"class {service.name}Servicer:"]
    for method in service.method:
        request = _name(method.input_type, modules)
        if method.client_streaming:
            request = f"Iterable[{request}]"
        # Of threads or of asyncio.
        lines.append(f"    def {method.name}(self, request: {request}, context: Any) -> Any: ...")
    lines += ["", f"def add_{service.name}Servicer_to_server(",
              f"    servicer: {service.name}Servicer, server: Any) -> None: ..."]
    return "\n".join(lines) + "\n"
