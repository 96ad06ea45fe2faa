"""Settings files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from ras_flow.errors import ConfigurationError


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Read a TOML file.

    Args:
        path: The file.

    Returns:
        Its tables, and its text.

    Raises:
        ConfigurationError: It cannot be read, or is no TOML; the message names it.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text), text
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The settings {path} cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"The settings {path} are no TOML: {error}.") from error
