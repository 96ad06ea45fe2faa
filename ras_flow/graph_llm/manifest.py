"""graph_llm.json: what a checkpoint folder holds, and whether it is whole."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.graph_llm.prompt import VERSION as PROMPT_VERSION
from ras_flow.llms.local.weights import hash_text
from ras_flow.support.files import first_wrong

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

NAME = "graph_llm.json"
FORMAT = 1
"""Version of the folder's layout."""

GNN = "gnn.safetensors"
ADAPTER = "adapter_model.safetensors"
ADAPTER_CONFIG = "adapter_config.json"


@dataclass(frozen=True)
class Manifest:
    """A checkpoint's description of itself.

    Attributes:
        config: What the model is made of.
        base: Type and sizes of the base model that it was trained on.
        files: SHA-256 of each file of weights.
        end: The token that ends what it writes; empty in checkpoints that do not say, which end as
            their base does.
    """

    config: GraphLLMConfig
    base: Mapping[str, Any]
    files: Mapping[str, str]
    end: str = ""

    @property
    def identity(self) -> str:
        """Names the weights: the same for copies of a checkpoint, another after training."""
        return f"graph-llm:{hash_text(json.dumps([self.to_mapping()], sort_keys=True))}"

    def to_mapping(self) -> dict[str, Any]:
        """Return it as JSON-like data."""
        told = {
            "format": FORMAT,
            "prompt": PROMPT_VERSION,
            "config": self.config.to_mapping(),
            "base": dict(self.base),
            "files": dict(self.files),
        }
        return {**told, "end": self.end} if self.end else told


def is_checkpoint(folder: Path) -> bool:
    """Tell whether a folder holds a Graph LLM."""
    return (folder / NAME).is_file()


def read_manifest(folder: Path) -> Manifest:
    """Read a checkpoint's description, and no weights."""
    path = folder / NAME
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        versions = (values["format"], values["prompt"])
        described = values["config"], dict(values["base"]), dict(values["files"])
        end = str(values.get("end", ""))
    except FileNotFoundError:
        raise ConfigurationError(
            f"There is no Graph LLM in {str(folder)!r}: it has no {NAME}. Check the path."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigurationError(
            f"{path} is damaged ({type(error).__name__}). Copy or train the Graph LLM again."
        ) from error
    if versions != (FORMAT, PROMPT_VERSION):
        raise ConfigurationError(
            f"The Graph LLM in {str(folder)!r} has format {versions[0]!r} and prompts "
            f"{versions[1]!r}; this version of ras-flow reads format {FORMAT} and prompts "
            f"{PROMPT_VERSION}. Train it again, or use the version of ras-flow that wrote it."
        )
    config, base, files = described
    try:
        return Manifest(GraphLLMConfig.from_mapping(config), base, files, end)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error


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


def write_manifest(manifest: Manifest, folder: Path) -> None:
    """Write a description beside the files that it describes."""
    text = json.dumps(manifest.to_mapping(), indent=2, ensure_ascii=False)
    (folder / NAME).write_text(f"{text}\n", encoding="utf-8")


def checked_manifest(folder: Path) -> Manifest:
    """Read a checkpoint's description, and compare the files with it."""
    manifest = read_manifest(folder)
    needed = [GNN] if manifest.config.gnn else []
    needed += [ADAPTER, ADAPTER_CONFIG] if manifest.config.lora else []
    if wrong := first_wrong(folder, {name: manifest.files.get(name, "") for name in needed}):
        file, state = wrong
        raise ConfigurationError(
            f"{file.name} of the Graph LLM in {str(folder)!r} is {state}: {NAME} has its checksum. "
            "Copy it again."
        )
    return manifest


def model_card(manifest: Manifest, model: GraphLLM, facts: Mapping[str, object]) -> str:
    """Write a model card in Markdown."""
    config = manifest.config
    trained = sum(one.numel() for one in model.parameters() if one.requires_grad)
    every = sum(one.numel() for one in model.parameters())
    rows = {
        "Base model": config.base,
        "Base type and sizes": ", ".join(f"{k} {v}" for k, v in manifest.base.items()),
        "Sentence encoder": f"{config.encoder} ({config.encoder_dimension} dimensions)",
        "Trained parameters": f"{trained:,} of {every:,}",
        **dict(_flat(config.to_mapping())),
        **facts,
    }
    table = "\n".join(f"| {_cell(name)} | {_cell(value)} |" for name, value in rows.items())
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

| | |
| --- | --- |
{table}

Files:

{files}
"""


def _flat(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}.")
        elif prefix or name not in ("base", "encoder", "encoder_dimension"):
            yield f"{prefix}{name}", value


def _cell(value: object) -> str:
    """Return a value as one cell of a table."""
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return " ".join(text.replace("|", r"\|").split())
