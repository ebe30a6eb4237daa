"""Time limits in seconds, of any size."""

from __future__ import annotations

# What is longer, infinity included, is no different, and no clock of gRPC's can say it.
_MAX_TIME_LIMIT = 365 * 24 * 3600.0


def require_time_limit(name: str, value: float) -> float:
    """`value`, at most a year. TypeError if it is no number, ValueError if it is negative."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} = {value!r}: a number of seconds is required")
    if not value >= 0:
        raise ValueError(f"{name} = {value}: 0 or more is required")
    return float(min(value, _MAX_TIME_LIMIT))
