"""The one exception of this package."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

import grpc

from ttl.v1 import item_service_pb2
from ttl_sidecar.error_details import (
    ErrorDetails, FieldViolation, read_details, read_trailing_details)

_CODES = {code.value[0]: code for code in grpc.StatusCode}
# Trailing metadata by which a server says when to try again; below 0: never.
_PUSHBACK = "grpc-retry-pushback-ms"


class SidecarError(Exception):
    """A call, or one message of a stream, that was refused or not answered.

    code              what kind of error; see the comments of the method in protos/ttl/v1
    message           names the field, its value and the allowed values
    retry_after       seconds to wait at least before trying again, if the sidecar says so
    reason            the cause, as a stable name (google.rpc.ErrorInfo); None if the sidecar gives
                      none
    domain            the domain of the reason: "ttl-sidecar"
    metadata          additional data about the error, by name
    field_violations  the fields that were refused (google.rpc.BadRequest)
    """

    def __init__(self, code: grpc.StatusCode, message: str, retry_after: float | None = None,
                 details: ErrorDetails = ErrorDetails()):
        super().__init__(f"{code.name}: {message}")
        self.code = code
        self.message = message
        self.retry_after = retry_after
        self._details = details

    @property
    def reason(self) -> str | None:
        return self._details.reason

    @property
    def domain(self) -> str | None:
        return self._details.domain

    @property
    def metadata(self) -> Mapping[str, str]:
        return self._details.metadata

    @property
    def field_violations(self) -> tuple[FieldViolation, ...]:
        return self._details.field_violations

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.message, self.retry_after, self._details)

    def about(self, entries: str) -> SidecarError:
        """The same error of a part of what was sent."""
        return SidecarError(self.code, f"{entries}: {self.message}", self.retry_after,
                            self._details)


def from_call(error: grpc.RpcError, address: str) -> SidecarError:
    """The error of a finished call that this client did not cancel. Where gRPC made it up itself,
    names the address. A sidecar that stops may cancel calls: then it is unavailable."""
    code, message = error.code(), error.details() or ""
    if code is grpc.StatusCode.CANCELLED:
        code = grpc.StatusCode.UNAVAILABLE
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
        message = f"sidecar at {address}: {message}"
    metadata = error.trailing_metadata()
    details = read_trailing_details(metadata)
    retry_after = _pushback(metadata)
    if retry_after is None:
        retry_after = details.retry_after
    return SidecarError(code, message, retry_after, details)


def from_message(error: item_service_pb2.MessageError) -> SidecarError:
    """The error of one message of a stream."""
    details = read_details(error.status_details)
    retry_after = details.retry_after
    if error.HasField("retry_after"):
        retry_after = error.retry_after.ToMilliseconds() / 1000
    return SidecarError(_CODES.get(error.code, grpc.StatusCode.UNKNOWN), error.message, retry_after,
                        details)


def wrong_length(got: int, want: int) -> SidecarError:
    """An answer that cannot be matched with what was asked."""
    return SidecarError(grpc.StatusCode.INTERNAL,
                        f"{got} results for {want} entries; none of them is used")


def unanswered(messages: int) -> SidecarError:
    """The end of a stream that owes answers."""
    return SidecarError(grpc.StatusCode.INTERNAL,
                        f"the stream ended with {messages} messages unanswered")


def unasked() -> SidecarError:
    """An answer on a stream for which there is no message."""
    return SidecarError(grpc.StatusCode.INTERNAL, "the stream has more answers than messages")


def _pushback(metadata: Iterable[tuple[str, Any]] | None) -> float | None:
    for key, value in metadata or ():
        if key == _PUSHBACK and value.removeprefix("-").isdigit():
            return float("inf") if value.startswith("-") else int(value) / 1000
    return None
