"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a text, so that a kill at any time leaves what was there before, or all of it.

    Args:
        path: The file, in a folder that is there. A link's target is written; a device or a pipe is
            written at once.
        text: The text, written as UTF-8.

    Raises:
        OSError: The disk refuses.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        scratch.write_text(text, encoding="utf-8", newline="\n")
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)
