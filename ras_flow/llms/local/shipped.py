"""What ``local:default`` means: the weights that come with the package, for each role."""

from __future__ import annotations

from pathlib import Path

WEIGHTS = Path(__file__).parents[2] / "weights"
"""Where the package keeps them."""


def is_default(name: str) -> bool:
    """Tell whether a model's name means the package's own."""
    return name in ("local", "local:", "local:default")
