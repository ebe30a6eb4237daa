"""Client of ttl-sidecar, and what a store written in Python needs to serve it.

    with Client("unix:/run/ttl-sidecar/sidecar.sock") as client:
        client.track("salesdb/carts", [Item(id=b"cart-17", ts=1767225600, ttl=3600, sequence=42)])
        [answer] = client.check("salesdb/carts", [Check(id=b"cart-17")])
        if answer.expired: ...
"""

from ttl_sidecar._version import __version__
from ttl_sidecar.async_client import AsyncClient
from ttl_sidecar.async_store import AsyncPrimaryStore, serve_async_store
from ttl_sidecar.client import Client
from ttl_sidecar.error_details import FieldViolation
from ttl_sidecar.errors import SidecarError
from ttl_sidecar.requests import Reply
from ttl_sidecar.store import PrimaryStore, serve_store
from ttl_sidecar.store_rules import StoreBusy
from ttl_sidecar.values import (
    Answer, Check, Deletion, Item, Key, PlacedHold, PlaceHoldResult, Touched, TouchResult,
    TrackResult, UntrackResult, Visibility)

__all__ = [
    "Answer", "AsyncClient", "AsyncPrimaryStore", "Check", "Client", "Deletion", "FieldViolation",
    "Item", "Key", "PlaceHoldResult", "PlacedHold", "PrimaryStore", "Reply", "SidecarError",
    "StoreBusy", "TouchResult", "Touched", "TrackResult", "UntrackResult", "Visibility",
    "__version__", "serve_async_store", "serve_store",
]
