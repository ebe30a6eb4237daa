"""How the channel to the sidecar is kept. Which calls are repeated: repeats.py."""

from __future__ import annotations

OPTIONS = [
    # The address is meant, not a proxy that the environment names.
    ("grpc.enable_http_proxy", 0),
    # gRPC itself repeats what was not sent, and by default keeps less than a full batch for it.
    ("grpc.per_rpc_retry_buffer_size", 4 << 20),
    # A sidecar restarts within seconds, and is to be found again within two; gRPC's own pauses
    # grow to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    # The time that an attempt to connect may take.
    ("grpc.min_reconnect_backoff_ms", 5000),
    # Finds a peer that went away without a word; the sidecar allows a ping every 10 s.
    ("grpc.keepalive_time_ms", 20000),
    ("grpc.keepalive_timeout_ms", 10000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
]
