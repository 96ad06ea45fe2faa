"""A worker's part must be the one that the caller means."""

from __future__ import annotations

from typing import Protocol, TypeVar

from ras_flow.errors import ClusterError


class Identified(Protocol):
    """A part whose identity names its model and settings."""

    @property
    def identity(self) -> str:
        """Names model and settings."""
        ...


P = TypeVar("P", bound=Identified)


def same(part: P, identity: str) -> P:
    """Check that a worker's part is the one that the caller has under the same name."""
    if part.identity != identity:
        raise ClusterError(
            f"A worker of the cluster has {part.identity!r} where this process has {identity!r}: "
            "have the same models, packages and settings on every machine."
        )
    return part
