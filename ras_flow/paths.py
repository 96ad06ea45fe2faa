"""Where ras_flow keeps files of its own; both folders can be moved by environment variables."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_data_path


def cache_folder() -> Path:
    """Return the folder of what can be made again: ``RAS_FLOW_CACHE``, or the user's cache."""
    given = os.environ.get("RAS_FLOW_CACHE")
    return Path(given) if given else user_cache_path("ras-flow")


def home_folder() -> Path:
    """Return the folder of runs and triples: ``RAS_FLOW_HOME``, or the user's data folder."""
    given = os.environ.get("RAS_FLOW_HOME")
    return Path(given) if given else user_data_path("ras-flow")
