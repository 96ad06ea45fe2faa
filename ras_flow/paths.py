"""Paths of ras_flow's own files, which environment variables can move, and of what callers name."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

from ras_flow.errors import ConfigurationError


def cache_folder() -> Path:
    """Return the folder of what can be made again: ``RAS_FLOW_CACHE``, or the user's cache."""
    given = os.environ.get("RAS_FLOW_CACHE")
    return Path(given) if given else user_cache_path("ras-flow")


def home_folder() -> Path:
    """Return the folder of runs and triples: ``RAS_FLOW_HOME``, or the user's data folder."""
    given = os.environ.get("RAS_FLOW_HOME")
    return Path(given) if given else user_data_path("ras-flow")


def path_named(name: str) -> Path:
    """Return the path that a name in a setting means, whether or not anything is there.

    Args:
        name: The name; ``~`` is a home folder.

    Raises:
        ConfigurationError: No file can have that name, or it cannot be looked at.
    """
    try:
        path = Path(name).expanduser()
        path.exists()
    except (OSError, RuntimeError) as error:
        raise ConfigurationError(
            f"The path {name[:200]!r} cannot be used ({str(error)[:200]}). Check it."
        ) from error
    return path
