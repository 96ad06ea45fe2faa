"""Paths of ras_flow's own files, which environment variables can move, and of what callers name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

from ras_flow.errors import ConfigurationError


def cache_folder() -> Path:
    """Return the folder of what can be made again: ``RAS_FLOW_CACHE``, or the user's cache."""
    return _folder("RAS_FLOW_CACHE", user_cache_path)


def home_folder() -> Path:
    """Return the folder of runs and triples: ``RAS_FLOW_HOME``, or the user's data folder."""
    return _folder("RAS_FLOW_HOME", user_data_path)


def _folder(variable: str, of_user: Callable[[str], Path]) -> Path:
    given = os.environ.get(variable)
    try:
        return Path(given).expanduser() if given else of_user("ras-flow")
    except RuntimeError as error:  # As in containers that run as a user without an account.
        raise ConfigurationError(
            f"This user has no home folder. Set {variable} to a folder that can be written."
        ) from error


def expanded(name: str) -> Path:
    """Return the path that a name means, where ``~`` is a home folder."""
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise _unusable(name, error) from error


def path_named(name: str) -> Path:
    """Return the path that a name in a setting means, whether or not anything is there."""
    path = expanded(name)
    try:
        path.exists()
    except OSError as error:
        raise _unusable(name, error) from error
    return path


def _unusable(name: str, error: Exception) -> ConfigurationError:
    return ConfigurationError(
        f"The path {name[:200]!r} cannot be used ({str(error)[:200]}). Check it."
    )
