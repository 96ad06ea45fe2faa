"""Names of files and folders on the command line."""

from __future__ import annotations

from pathlib import Path

import typer


def path_of(name: str) -> Path:
    """Return a path, and none for no name: ``--docs "$UNSET"`` must not mean the current folder.

    Args:
        name: What was typed.

    Returns:
        The path.

    Raises:
        BadParameter: The name is empty.
    """
    if not name:
        raise typer.BadParameter("the name is empty; write . for the current folder")
    return Path(name)
