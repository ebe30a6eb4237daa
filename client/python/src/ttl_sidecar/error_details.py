"""What programs can tell about an error beyond its code: the details that gRPC carries in the
trailing metadata grpc-status-details-bin."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterable, Mapping, Sequence, TypeVar

from google.protobuf.message import DecodeError, Message

from ttl.errors.v1 import error_details_pb2 as pb

STATUS_DETAILS = "grpc-status-details-bin"

M = TypeVar("M", bound=Message)


@dataclasses.dataclass(frozen=True, slots=True)
class FieldViolation:
    """A field of a request that was refused: its path, and why."""

    field: str
    description: str


@dataclasses.dataclass(frozen=True, slots=True)
class ErrorDetails:
    """The details of one error; see SidecarError for what they mean."""

    reason: str | None = None
    domain: str | None = None
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    field_violations: tuple[FieldViolation, ...] = ()
    retry_after: float | None = None


def read_details(serialized: bytes) -> ErrorDetails:
    """What the details of an error, a serialized google.rpc.Status, tell. Those that are missing,
    unknown or cannot be read are left out: invalid details never hide the error."""
    status = _parse(pb.ErrorStatus(), serialized)
    details = status.details if status else ()
    info = _find(details, "ErrorInfo", pb.ErrorInfo())
    request = _find(details, "BadRequest", pb.BadRequest())
    retry = _find(details, "RetryInfo", pb.RetryInfo())
    has_delay = retry is not None and retry.HasField("retry_delay")
    return ErrorDetails(
        reason=info.reason if info else None,
        domain=info.domain if info else None,
        metadata=dict(info.metadata) if info else {},
        field_violations=tuple(FieldViolation(violation.field, violation.description)
                               for violation in (request.field_violations if request else ())),
        retry_after=retry.retry_delay.ToMilliseconds() / 1000 if retry and has_delay else None)


def read_trailing_details(metadata: Iterable[tuple[str, Any]] | None) -> ErrorDetails:
    """Those of a failed call, by its trailing metadata."""
    return next((read_details(value) for key, value in metadata or () if key == STATUS_DETAILS),
                ErrorDetails())


def _find(details: Sequence[Any], name: str, message: M) -> M | None:
    """The first detail of that type of google.rpc, read into `message`."""
    for detail in details:
        if detail.type_url.rpartition("/")[2] == f"google.rpc.{name}":
            return _parse(message, detail.value)
    return None


def _parse(message: M, serialized: bytes) -> M | None:
    try:
        message.ParseFromString(serialized)
    except DecodeError:
        return None
    return message
