"""Folders that training wrote: an adapter or a whole model, and how to ask it.

``trained.json`` beside the weights names the base model, the instructions that training used, and
the SHA-256 of every file. A folder with an adapter is read as its base model with the adapter
merged into it, so inference costs what the base costs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator

from ras_flow.errors import ConfigurationError
from ras_flow.llms.local.described import Description
from ras_flow.llms.local.shipped import WEIGHTS, is_default
from ras_flow.support.paths import path_named
from ras_flow.support.validation import Positive

MANIFEST = "trained.json"

FORMAT = 1
"""Version of the folder, as :class:`Tuned` reads it."""

SHIPPED = WEIGHTS / "extractor"
"""Where the package keeps its own extractor."""

HOP_READER = WEIGHTS / "hop-reader"
"""Where it keeps the model that reads a hop in one call."""

HOP = "hop"
"""The task of such models."""


def _plain(name: str) -> str:
    if Path(name).name != name:
        raise ValueError("must be the name of a file in the folder.")
    return name


class Tuned(Description, extra="ignore"):
    """A trained model's description: an adapter for its base model, or a whole model.

    ``instructions`` are what was asked in training, by task. An extractor's task has no name, and
    an instruction may be empty. No target in training was longer than ``max_new_tokens``. ``files``
    has the SHA-256 of the folder's other files.
    """

    what = "trained model"
    versions: ClassVar[Mapping[str, int]] = {"format": FORMAT}

    folder: Path = Path()
    kind: Literal["causal", "seq2seq"]
    base: str
    adapter: bool
    instructions: dict[str, str]
    max_new_tokens: Positive[int]
    files: dict[Annotated[str, AfterValidator(_plain)], str]

    @property
    def key(self) -> str:
        """Sixteen hex digits that change with the weights and the instructions."""
        asked = self.instructions.get("", self.instructions)
        told = [self.kind, self.base, asked, sorted(self.files.items())]
        return sha256(json.dumps(told).encode()).hexdigest()[:16]

    def instruction(self, task: str = "") -> str:
        """Return what is asked for a task; "" is an extractor's only one."""
        if task not in self.instructions:
            known = ", ".join(filter(None, self.instructions)) or "extraction"
            raise ConfigurationError(
                f"{str(self.folder)!r} was trained for {known}, not for {task or 'extraction'}. "
                "Name another model."
            )
        return self.instructions[task]


def find_tuned(name: str) -> Tuned | None:
    """Return the description of a folder that training wrote."""
    folder = path_named(name)
    file = folder / MANIFEST
    return Tuned.read(file).model_copy(update={"folder": folder}) if file.is_file() else None


def is_trained_for(name: str, task: str) -> bool:
    """Tell whether a model's name means a folder that training wrote for a task."""
    kind, _, path = name.partition(":")
    tuned = find_tuned(path) if kind == "local" else None
    return tuned is not None and task in tuned.instructions


def extractor_name(name: str) -> str:
    """Return the model that a name means for the extractor."""
    return f"local:{SHIPPED}" if is_default(name) else name


def hop_reader_name(name: str) -> str:
    """Return the model that a name means with one call a hop."""
    return f"local:{HOP_READER}" if is_default(name) else name
