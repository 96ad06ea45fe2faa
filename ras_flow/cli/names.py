"""Names of files, folders, models and databases on the command line."""

from __future__ import annotations

import os
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


def encoder_name(name: str) -> str:
    """Return a sentence encoder's name, which indexes and runs keep: a folder's is its whole path.

    Args:
        name: What was typed.

    Returns:
        The name.
    """
    return os.path.abspath(name) if os.path.isdir(name) else name


def address_of(text: str) -> str:
    """Return an address, and none for no text: ``--database "$UNSET"`` must not mean any database.

    Args:
        text: What was typed.

    Returns:
        The address.

    Raises:
        BadParameter: The text is empty.
    """
    if not text:
        raise typer.BadParameter("the address is empty; leave the option out for your own folder")
    return text
