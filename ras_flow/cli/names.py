"""Names of files, folders, models and databases on the command line."""

from __future__ import annotations

import os
from pathlib import Path

import typer


def path_of(name: str) -> Path:
    """Return a path; refuse an empty name: ``--docs "$UNSET"`` must not mean the current folder."""
    if not name:
        raise typer.BadParameter("the name is empty; write . for the current folder")
    return Path(name)


def encoder_name(name: str) -> str:
    """Return a sentence encoder's name; a folder's is its absolute path, which indexes keep."""
    return os.path.abspath(name) if os.path.isdir(name) else name


def address_of(text: str) -> str:
    """Refuse an empty address: ``--database "$UNSET"`` must not mean any database."""
    if not text:
        raise typer.BadParameter("the address is empty; leave the option out for your own folder")
    return text
