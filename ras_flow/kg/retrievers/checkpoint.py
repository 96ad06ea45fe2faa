"""A trained retriever's folder: weights, ``retriever.json`` that describes them, a model card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ras_flow.errors import ConfigurationError
from ras_flow.llms.local.described import Description
from ras_flow.llms.local.weights import SMOLLM2, hash_text
from ras_flow.llms.sentence_encoder import MINILM
from ras_flow.support.extras import require
from ras_flow.support.files import checksum, let_all_read
from ras_flow.support.validation import NonNegative, Positive, Settings

if TYPE_CHECKING:
    from torch import nn

    from ras_flow.kg.retrievers.model import FactModel

NAME = "retriever.json"
WEIGHTS = "model.safetensors"
FORMAT = 1

Kind = Literal["triple", "entity", "path", "lm"]
_MODELS = {"triple": "TripleModel", "entity": "EntityModel", "path": "PathModel", "lm": "LmModel"}

_TAKES = {
    "triple": ("hidden", "rounds", "entity_text"),
    "entity": ("hidden", "rounds", "entity_text", "layers"),
    "path": ("hidden",),
    "lm": ("base", "rank"),
}
"""What each kind is made of."""


class ModelSettings(Settings):
    """What a retriever is made of.

    Attributes:
        kind: What it scores: triples, entities, or paths of relations; with ``lm`` a language
            model, ``base`` with an adapter of some ``rank``, writes the paths.
        encoder: The sentence encoder, which is not trained: a folder, or a name.
        rounds: Steps from the question's entities that the distance encoding sees.
        layers: Convolutions of an entity retriever.
        entity_text: Read the names of entities, which is what takes the time in large graphs.
    """

    kind: Kind = "triple"
    encoder: str = MINILM
    hidden: Positive[int] = 256
    rounds: NonNegative[int] = 2
    layers: Positive[int] = 3
    entity_text: bool = True
    base: str = SMOLLM2
    rank: Positive[int] = 8

    def build(self, dimension: int, **more: Any) -> FactModel:
        """Make the model, with new weights."""
        require("torch", extra="local")
        made = {name: getattr(self, name) for name in _TAKES[self.kind]}
        home = import_module(f"ras_flow.kg.retrievers.{self.kind}")
        model: FactModel = getattr(home, _MODELS[self.kind])(dimension, **made, **more)
        return model


class Manifest(Description):
    """What a folder says of its weights, of their sentence encoder, and of their training."""

    what = "retriever"
    versions: ClassVar[Mapping[str, int]] = {"format": FORMAT}

    format: int = FORMAT
    model: ModelSettings
    encoder: str
    dimension: Positive[int]
    trained: Mapping[str, Any] = {}

    @property
    def identity(self) -> str:
        """Names the weights."""
        told = json.dumps([self.model.model_dump(), self.encoder, dict(self.files)], sort_keys=True)
        return f"{self.model.kind}-retriever:{hash_text(told)}"


def save(
    folder: Path,
    model: nn.Module,
    settings: ModelSettings,
    encoder: str,
    dimension: int,
    trained: Mapping[str, Any],
) -> None:
    """Write a retriever into a new folder; weights are in half precision."""
    folder.mkdir(parents=True)
    weights = {
        name: value.detach().cpu().half() if value.is_floating_point() else value.detach().cpu()
        for name, value in model.state_dict().items()
    }
    require("safetensors.torch", extra="local").save_file(weights, folder / WEIGHTS)
    let_all_read(folder)
    manifest = Manifest(
        model=settings,
        encoder=encoder,
        dimension=dimension,
        files={WEIGHTS: checksum(folder / WEIGHTS)},
        trained=trained,
    )
    manifest.write(folder / NAME)
    (folder / "README.md").write_text(_card(manifest), encoding="utf-8")


def load(folder: Path) -> tuple[Manifest, FactModel]:
    """Read a retriever, ready to score."""
    manifest = Manifest.read(folder / NAME)
    manifest.check_files(folder, [WEIGHTS])
    model = manifest.model.build(manifest.dimension)
    safetensors = require("safetensors", extra="local")
    read = require("safetensors.torch", extra="local").load_file
    try:
        model.load_state_dict(read(folder / WEIGHTS))
    except (RuntimeError, OSError, safetensors.SafetensorError) as error:
        raise ConfigurationError(
            f"{folder / WEIGHTS} does not fit {NAME} ({str(error).splitlines()[0]}). Copy or train "
            "the retriever again."
        ) from error
    return manifest, model.eval()


def _card(manifest: Manifest) -> str:
    model, trained = manifest.model, dict(manifest.trained)
    rows: dict[str, object] = {"sentence encoder": manifest.encoder}
    rows |= {name: getattr(model, name) for name in _TAKES[model.kind]}
    for source, labels in trained.pop("labels", {}).items():
        told = (f"{name} {value}" for name, value in labels.items() if name != "refiner")
        rows[f"labels of {source}"] = f"by {labels['refiner']}; against gold: {', '.join(told)}"
    trained.pop("settings", None)
    table = "\n".join(f"| {name} | {value} |" for name, value in (rows | trained).items())
    files = "\n".join(f"- `{name}`: sha256 {sha}" for name, sha in manifest.files.items())
    return f"""\
---
tags: [knowledge-graph, retrieval, ras-flow]
---

# A {manifest.model.kind} retriever for knowledge graphs

It scores the facts around a question's entities in any graph by whether the question needs them.
The sentence encoder's weights are not in here. Use it with
[ras-flow](https://pypi.org/project/ras-flow/): name `local:` and this folder as `kg_retriever`.

| | |
| --- | --- |
{table}

Files:

{files}
"""
