"""How a person names a run, or one of its branches: ``RUN`` or ``RUN/2``."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from ras_flow.errors import UnknownRunError
from ras_flow.formats.text import scrub
from ras_flow.runs.runs import Runs

_DIGITS = 9
"""Longest number of a branch; Python refuses to read some that are much longer."""


class Address(NamedTuple):
    """A run and, where it was given, the number of a branch."""

    run: str
    branch: int | None


async def find_address(runs: Runs, text: str) -> Address:
    """Take ``RUN/2`` apart, unless all of it is a run's id, as callers may choose one."""
    text = scrub(text)  # Arguments need not be UTF-8.
    run, _, number = text.rpartition("/")
    if not (run and number.isdecimal() and len(number) <= _DIGITS):
        return Address(text, None)
    with suppress(UnknownRunError):
        await runs.newest(text)
        return Address(text, None)
    return Address(run, int(number))
