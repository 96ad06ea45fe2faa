"""Files that are written whole or not at all, or by one writer at a time, and their checksums."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import TextIO

from ras_flow.errors import InputError, RasFlowError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise an error of ours where a file or folder cannot be written."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error


@contextmanager
def file_lock(path: Path, busy: RasFlowError) -> Iterator[None]:
    """Hold a lock file, whose folder is made if need be; never wait for it.

    Raises ``busy`` if another process or task holds it.
    """
    import filelock  # noqa: PLC0415

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(path, timeout=0, thread_local=False).acquire()
    except filelock.Timeout as error:
        raise busy from error
    except OSError as error:
        raise InputError(
            f"{path.parent} cannot be written to ({error.strerror}): name another folder."
        ) from error
    with lock:
        yield


def write_whole(path: Path, text: str) -> None:
    """Write a text, so that a kill at any time leaves what was there before, or all of it."""
    with whole_file(path) as file:
        file.write(text)


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a file to write as :func:`write_whole` does, piece by piece."""
    # Before links are followed: /dev/stdout may be a link to a pipe, which has no path.
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    path = path.resolve()
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with scratch.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give a folder to write, which takes its name when all of it is there."""
    # Hidden: a name without a dot may be a person's own, such as a copy of an older model.
    scratch, before = (
        path.with_name(f".{path.name}.{state}") for state in ("unfinished", "before")
    )
    # What a killed process may have left.
    shutil.rmtree(scratch, ignore_errors=True)
    if before.is_dir() and not path.exists():
        os.replace(before, path)
    scratch.mkdir()
    try:
        yield scratch
        if path.is_dir() and any(path.iterdir()):
            shutil.rmtree(before, ignore_errors=True)
            os.replace(path, before)
            os.replace(scratch, path)
            shutil.rmtree(before)
        else:
            os.replace(scratch, path)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def let_all_read(folder: Path) -> None:
    """Let everyone read a folder's files.

    Weights are written readable by their owner alone. They would be packaged like that, and a
    server may run as another user.
    """
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(0o644)


def checksum(path: Path) -> str:
    """Return a file's SHA-256 in hex digits."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
