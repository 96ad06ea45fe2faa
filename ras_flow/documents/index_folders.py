"""Which folders are ours: readers of documents leave them out, and builds replace no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

MANIFEST = "manifest.json"
"""The file that makes a folder an index or a knowledge graph."""

INDEX, GRAPH = "index", "knowledge graph"

_USE = {
    INDEX: "an index: show it with `ras-flow index info`, ask it with `--index`",
    GRAPH: "a knowledge graph: show it with `ras-flow kg info`, ask it with `--kg`",
}


def kind_of(folder: Path) -> str | None:
    """Return what a folder is; "" for a damaged one, None for one that is not ours."""
    try:
        content = json.loads((folder / MANIFEST).read_bytes())
    except OSError:
        return None
    except (ValueError, RecursionError):
        content = None
    if isinstance(content, dict) and content.keys() >= {"format", "generation"}:
        return GRAPH if str(content["format"]).startswith("kg ") else INDEX
    return "" if any(is_generation(item.name) for item in folder.iterdir()) else None


def is_index(folder: Path) -> bool:
    """Tell whether a folder is ours, even a damaged one."""
    return kind_of(folder) is not None


def use_of(folder: Path) -> str:
    """Say what one of our folders is, and which commands read it."""
    return _USE[kind_of(folder) or INDEX]


def is_generation(name: str) -> bool:
    """Tell whether a folder's name is one that indexes give to the folder of their files."""
    return re.fullmatch("gen-[0-9a-f]{16}", name) is not None
