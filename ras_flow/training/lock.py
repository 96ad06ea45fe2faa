"""What a build or a training writes is written by one of them at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ras_flow.errors import ConfigurationError, InputError


@contextmanager
def hold(path: Path, *, by: str = "build") -> Iterator[None]:
    """Hold the lock of a file, taken at once or not at all."""
    lock = FileLock(path.with_name(f"{path.name}.lock"), timeout=0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise ConfigurationError(
            f"Another {by} writes to {path.parent}: wait for it, or use another folder."
        ) from error
    except OSError as error:
        raise InputError(f"{path.parent} cannot be written to: {error}. Name another.") from error
    try:
        yield
    finally:
        lock.release()
