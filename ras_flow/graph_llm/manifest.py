"""What a folder of weights says of itself: ``graph_llm.json``, and the model card."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.graph_llm.prompt import VERSION as PROMPT_VERSION
from ras_flow.llms.local.adapter import ADAPTER, ADAPTER_SETTINGS
from ras_flow.llms.local.described import Description
from ras_flow.llms.local.weights import hash_text
from ras_flow.support.markdown import table
from ras_flow.support.nested import flat

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

NAME = "graph_llm.json"
FORMAT = 1
"""Version of a description and of the folder's layout."""

GNN = "gnn.safetensors"

_TOLD = ("base", "encoder", "encoder_dimension")
"""Settings that a model card tells in rows of their own."""


class GraphDescription(Description):
    """What a Graph LLM's folder says of itself."""

    what = "Graph LLM"
    versions: ClassVar[Mapping[str, int]] = {"format": FORMAT, "prompt": PROMPT_VERSION}

    format: int = FORMAT
    prompt: int = PROMPT_VERSION
    config: GraphLLMConfig


class Manifest(GraphDescription):
    """A checkpoint's description of itself.

    Attributes:
        base: Type and sizes of the base model that it was trained on.
        end: The token that ends what it writes; empty in checkpoints that do not say, which end as
            their base does.
    """

    base: Mapping[str, Any]
    end: str = ""

    @property
    def identity(self) -> str:
        """Names the weights: the same for copies of a checkpoint, another after training."""
        return f"graph-llm:{hash_text(json.dumps([self.to_mapping()], sort_keys=True))}"

    def to_mapping(self) -> dict[str, Any]:
        """Return it as JSON-like data, without what older checkpoints do not say."""
        told = super().to_mapping()
        if not self.end:
            del told["end"]
        if self.config.dtype == "float32":
            del told["config"]["dtype"]
        return told


def is_checkpoint(folder: Path) -> bool:
    """Tell whether a folder holds a Graph LLM."""
    return (folder / NAME).is_file()


def read_manifest(folder: Path) -> Manifest:
    """Read a checkpoint's description, and no weights."""
    return Manifest.read(folder / NAME)


def checked_manifest(folder: Path) -> Manifest:
    """Read a checkpoint's description, and compare the files with it."""
    manifest = read_manifest(folder)
    needed = [GNN] if manifest.config.gnn else []
    needed += [ADAPTER, ADAPTER_SETTINGS] if manifest.config.lora else []
    manifest.check_files(folder, needed)
    return manifest


def own_tokenizer(tokenizer: Any, end: str, folder: Path) -> Any:
    """Return the tokenizer of a checkpoint's base with the checkpoint's own end token.

    Versions of transformers read different end tokens from the same base.
    """
    if end in ("", tokenizer.eos_token):
        return tokenizer
    if end not in tokenizer.get_vocab():
        raise ConfigurationError(
            f"The Graph LLM in {str(folder)!r} ends its texts with {end!r}, a token that the "
            "tokenizer of its base model does not have. Name the base model that it was trained "
            "on, or copy the Graph LLM again."
        )
    own = copy.deepcopy(tokenizer)
    own.eos_token = end
    return own


def model_card(manifest: Manifest, model: GraphLLM, facts: Mapping[str, object]) -> str:
    """Write a model card in Markdown."""
    config = manifest.config
    parts = flat(config.model_dump())
    trained = sum(one.numel() for one in model.parameters() if one.requires_grad)
    every = sum(one.numel() for one in model.parameters())
    rows = {
        "Base model": config.base,
        "Base type and sizes": ", ".join(f"{k} {v}" for k, v in manifest.base.items()),
        "Sentence encoder": f"{config.encoder} ({config.encoder_dimension} dimensions)",
        "Trained parameters": f"{trained:,} of {every:,}",
        **{name: value for name, value in parts.items() if name not in _TOLD},
        **facts,
    }
    files = "\n".join(f"- `{name}`: sha256 {sha}" for name, sha in manifest.files.items())
    return f"""\
---
base_model: {json.dumps(config.base)}
tags: [graph-llm, retrieval-and-structuring, ras-flow]
---

# A Graph LLM for retrieval-and-structuring

It plans searches for a question and answers it, from the question's own knowledge graph: a graph
encoder turns the graph into soft tokens among the words that the language model reads. The base
model's weights are not in here.

Use it as planner and answerer of [ras-flow](https://pypi.org/project/ras-flow/), under the name
`local:` and this folder's path.

{table(["", ""], rows.items())}

Files:

{files}
"""
