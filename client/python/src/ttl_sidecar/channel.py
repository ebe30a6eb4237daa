"""How the channels to the sidecar are made, and which calls gRPC may repeat."""

from __future__ import annotations

import json

import grpc

# Reads change nothing, so they may be asked again.
_READS = {
    "ItemService": ["CheckVisibility", "GetItem", "ListItems"],
    "ContainerService": ["GetContainer", "ListContainers"],
    "ExpiryService": ["GetExpiryStatus", "ListExpiryStatuses", "ExplainItem", "ListStuckItems"],
}
_REPORTS = {"ItemService": ["TrackItems", "UntrackItems"]}


def _method_config(methods, codes):
    names = [{"service": f"ttl.v1.{service}", "method": method}
             for service, names in methods.items() for method in names]
    return {
        "name": names,
        "retryPolicy": {
            "maxAttempts": 4, "initialBackoff": "0.05s", "maxBackoff": "0.5s",
            "backoffMultiplier": 2, "retryableStatusCodes": codes,
        },
    }


def service_config(repeat_reports: bool) -> str:
    """Reports that were refused for a full queue are sent again; those of unknown fate only with
    `repeat_reports`, where every entry has a sequence. What is not named is never repeated."""
    report_codes = ["RESOURCE_EXHAUSTED"] + (["UNAVAILABLE"] if repeat_reports else [])
    return json.dumps({
        "methodConfig": [_method_config(_READS, ["UNAVAILABLE"]),
                         _method_config(_REPORTS, report_codes)],
        "retryThrottling": {"maxTokens": 100, "tokenRatio": 0.1},
    })


def connect(address: str, credentials: grpc.ChannelCredentials | None,
            repeat_reports: bool) -> grpc.Channel:
    options = [
        # The address is meant, not a proxy that the environment names.
        ("grpc.enable_http_proxy", 0),
        ("grpc.service_config", service_config(repeat_reports)),
        # A full batch is larger than what gRPC would repeat by default.
        ("grpc.per_rpc_retry_buffer_size", 4 << 20),
        # A sidecar restarts within seconds; gRPC's own pauses grow to two minutes.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 2000),
        ("grpc.min_reconnect_backoff_ms", 5000),
        # Finds a peer that went away without a word; the sidecar allows a ping every 10 s.
        ("grpc.keepalive_time_ms", 20000),
        ("grpc.keepalive_timeout_ms", 10000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
    ]
    if credentials is None:
        return grpc.insecure_channel(address, options)
    return grpc.secure_channel(address, credentials, options)
