"""Characters that drive a terminal or reorder text, written so that no reader is misled."""

from __future__ import annotations

import json
import re
from typing import Any

UNSEEN = "\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
"""Control characters but the line feed, and those that change the direction of text."""

_UNSEEN = re.compile(f"[{UNSEEN}]")


def escape_unseen(text: str, escape: str) -> str:
    """Write unseen characters as escapes."""
    return _UNSEEN.sub(lambda match: escape % ord(match[0]), text)


def json_text(value: Any, *, indent: int | None = None, ascii: bool = False) -> str:
    """Write a value as JSON that can be shown on a terminal."""
    return escape_unseen(json.dumps(value, ensure_ascii=ascii, indent=indent), "\\u%04x")
