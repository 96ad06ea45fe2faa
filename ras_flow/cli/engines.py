"""``--engine``: where a command's work is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ras_flow.support.engine import Engine


class EngineName(StrEnum):
    """Where the work is done."""

    LOCAL = "local"
    RAY = "ray"


EngineOption = Annotated[
    EngineName,
    typer.Option(
        "--engine",
        help="Where to work: in this process, or on a Ray cluster (at RAY_ADDRESS, or else started "
        "on this machine).",
    ),
]


@contextmanager
def opened_engine(name: EngineName, most: int | None = None) -> Iterator[Engine]:
    """Open an engine before there is an event loop."""
    if name == EngineName.LOCAL:
        from ras_flow.support.engine import IN_PROCESS

        yield IN_PROCESS
        return
    from ras_flow.cluster.workers import open_workers

    with open_workers(most) as workers:
        yield workers
