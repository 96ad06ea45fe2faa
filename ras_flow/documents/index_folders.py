"""Which folders are indexes: readers of documents leave them out, and builds replace no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

MANIFEST = "manifest.json"
"""The file that makes a folder an index."""


def is_index(folder: Path) -> bool:
    """Tell whether a folder is an index, even a damaged one."""
    try:
        content = json.loads((folder / MANIFEST).read_bytes())
    except OSError:
        return False
    except (ValueError, RecursionError):
        content = None
    return (isinstance(content, dict) and content.keys() >= {"format", "generation"}) or any(
        is_generation(item.name) for item in folder.iterdir()
    )


def is_generation(name: str) -> bool:
    """Tell whether a folder's name is one that indexes give to the folder of their files."""
    return re.fullmatch("gen-[0-9a-f]{16}", name) is not None
