"""A Graph LLM as a plain model that any server of language models loads (`ras-flow export`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.checkpoint import load_graph_llm
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.graph_llm.manifest import GNN
from ras_flow.graph_llm.prompt import VERSION as PROMPT_VERSION
from ras_flow.graph_llm.shared import find_graph_llm
from ras_flow.llms.local.export import export_folder, save_plain
from ras_flow.llms.local.generation import end_tokens
from ras_flow.llms.local.precision import DType
from ras_flow.llms.local.weights import hash_text
from ras_flow.support.extras import require
from ras_flow.support.files import checksum, first_wrong

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM


PART = "graph-llm"
"""The client's part: in a folder of its own, since servers load every weight beside the model."""

NAME = "export.json"
FORMAT = 1
"""Version of the client's part."""

WORDS = "words.safetensors"
"""Embeddings of all words, so that the client needs no other weights of the language model."""


@dataclass(frozen=True)
class Exported:
    """An export's description of itself.

    Attributes:
        config: What the Graph LLM is made of.
        identity: Of the Graph LLM that was exported.
        served_name: What the server is to call the model: another model has another name, so that
            a wrong server refuses instead of writing nonsense.
        ends: Tokens that end a text.
        files: SHA-256 of each file of weights in the client's part.
    """

    config: GraphLLMConfig
    identity: str
    served_name: str
    ends: tuple[int, ...]
    files: Mapping[str, str]

    def to_mapping(self) -> dict[str, Any]:
        """Return it as JSON-like data."""
        return {
            "format": FORMAT,
            "prompt": PROMPT_VERSION,
            "identity": self.identity,
            "served_name": self.served_name,
            "ends": list(self.ends),
            "config": self.config.to_mapping(),
            "files": dict(self.files),
        }


def is_export(folder: Path) -> bool:
    """Tell whether a folder holds an exported Graph LLM."""
    return (folder / PART / NAME).is_file()


def read_export(folder: Path) -> Exported:
    """Read an export's description, and no weights."""
    path = folder / PART / NAME
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        versions = (values["format"], values["prompt"])
        names = str(values["identity"]), str(values["served_name"])
        ends = tuple(int(token) for token in values["ends"])
        described = values["config"], dict(values["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigurationError(
            f"{path} is damaged ({type(error).__name__}). Copy or export the Graph LLM again."
        ) from error
    if versions != (FORMAT, PROMPT_VERSION):
        raise ConfigurationError(
            f"The export in {str(folder)!r} has format {versions[0]!r} and prompts "
            f"{versions[1]!r}; this version of ras-flow reads format {FORMAT} and prompts "
            f"{PROMPT_VERSION}. Export the Graph LLM again."
        )
    config, files = described
    return Exported(GraphLLMConfig.from_mapping(config), *names, ends, files)


def check_export(exported: Exported, folder: Path) -> None:
    """Compare the files of the client's part with what the description says of them."""
    needed = (GNN, WORDS) if exported.config.gnn else ()
    sums = {name: exported.files.get(name, "") for name in needed}
    if wrong := first_wrong(folder / PART, sums):
        path, state = wrong
        raise ConfigurationError(f"{path} is {state}. Copy or export the Graph LLM again.")


def export_graph_llm(name: str, folder: Path, *, dtype: DType = "float32") -> Exported:
    """Merge the adapter into the base model, and write all that serving needs.

    The folder is a transformers checkpoint with its tokenizer. Its subfolder ``graph-llm`` is all
    that the client needs: graph encoder, projector, the embeddings of words, and the tokenizer.
    """
    source = find_graph_llm(name)
    if source is None:
        raise ConfigurationError(
            f"{name!r} is no Graph LLM. Name local:default, or local: with a folder that "
            "`ras-flow train graph-llm` wrote."
        )
    with export_folder(folder) as scratch:
        return _write(load_graph_llm(source.folder), source.identity, dtype, scratch)


def _write(model: GraphLLM, identity: str, dtype: DType, folder: Path) -> Exported:
    safetensors = require("safetensors.torch", extra="local")
    # It imports torch.
    from ras_flow.graph_llm.soft_tokens import all_words  # noqa: PLC0415

    base, tokenizer = model.base, model.tokenizer
    ends = tuple(sorted(end_tokens(base, tokenizer)))
    save_plain(base, tokenizer, ends, folder, dtype)
    part = folder / PART
    tokenizer.save_pretrained(part)
    if model.config.gnn:
        safetensors.save_file(_plain(model.graph_modules.state_dict()), part / GNN)
        safetensors.save_file(_plain({"words": all_words(base)}), part / WORDS)
    files = {path.name: checksum(path) for path in sorted(part.glob("*.safetensors"))}
    served_name = f"graph-llm-{hash_text(f'{identity} {dtype}')}"
    exported = Exported(model.config, identity, served_name, ends, files)
    text = json.dumps(exported.to_mapping(), indent=2, ensure_ascii=False)
    (part / NAME).write_text(f"{text}\n", encoding="utf-8")
    return exported


def _plain(weights: Any) -> dict[str, Any]:
    return {name: value.detach().cpu().contiguous() for name, value in weights.items()}
