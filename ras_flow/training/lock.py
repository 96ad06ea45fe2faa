"""Only one build or training at a time writes a file."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from ras_flow.errors import ConfigurationError
from ras_flow.support.files import file_lock


def writer_lock(path: Path, *, by: str = "build") -> AbstractContextManager[None]:
    """Hold the lock of a file that a build or training writes."""
    busy = ConfigurationError(
        f"Another {by} writes to {path.parent}: wait for it, or use another folder."
    )
    return file_lock(path.with_name(f"{path.name}.lock"), busy)
