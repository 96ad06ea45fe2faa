"""Times as people write them: how long ago, or a date."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ras_flow.errors import InputError

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_time(text: str, option: str) -> datetime:
    """Read a time."""
    number, unit = text[:-1], text[-1:]
    try:
        if unit in _UNITS and number.isdecimal():
            return datetime.now(UTC) - timedelta(**{_UNITS[unit]: int(number)})
        time = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise InputError(
            f"{option} {text!r} is not a time: write 2h, 30d, or a date like 2026-11-01."
        ) from None
    return with_zone(time)


def with_zone(time: datetime) -> datetime:
    """Return a time with a time zone: UTC if it says nothing else."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def stored_time(value: object) -> str:
    """Return when a checkpoint was written: ISO 8601, or the year 1 where a file says no time."""
    try:
        return with_zone(datetime.fromisoformat(str(value))).isoformat()
    except ValueError:
        return datetime.min.replace(tzinfo=UTC).isoformat()
