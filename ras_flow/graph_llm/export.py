"""A Graph LLM as a plain model that any server of language models loads (`ras-flow export`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.checkpoint import load_graph_llm
from ras_flow.graph_llm.manifest import GNN, GraphDescription
from ras_flow.graph_llm.shared import find_graph_llm
from ras_flow.llms.local.export import export_folder, save_plain
from ras_flow.llms.local.generation import end_tokens
from ras_flow.llms.local.precision import DType
from ras_flow.llms.local.weights import hash_text
from ras_flow.support.extras import require
from ras_flow.support.files import checksum

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM


PART = "graph-llm"
"""The client's part: in a folder of its own, since servers load every weight beside the model."""

NAME = "export.json"

WORDS = "words.safetensors"
"""Embeddings of all words, so that the client needs no other weights of the language model."""


class Exported(GraphDescription):
    """An export's description of itself.

    Attributes:
        identity: Of the Graph LLM that was exported.
        served_name: What the server is to call the model: another model has another name, so that
            a wrong server refuses instead of writing nonsense.
        ends: Tokens that end a text.
    """

    identity: str
    served_name: str
    ends: Annotated[tuple[int, ...], Field(strict=False)]

    def check(self, folder: Path) -> None:
        """Compare the client's part with what the description says of it."""
        self.check_files(folder / PART, (GNN, WORDS) if self.config.gnn else ())


def is_export(folder: Path) -> bool:
    """Tell whether a folder holds an exported Graph LLM."""
    return (folder / PART / NAME).is_file()


def read_export(folder: Path) -> Exported:
    """Read an export's description, and no weights."""
    return Exported.read(folder / PART / NAME)


def export_graph_llm(name: str, folder: Path, *, dtype: DType = "float32") -> Exported:
    """Merge the adapter into the base model, and write all that serving needs.

    The folder is a transformers checkpoint with its tokenizer. Its subfolder ``graph-llm`` is all
    that the client needs: graph encoder, projector, the embeddings of words, and the tokenizer.
    """
    source = find_graph_llm(name)
    if source is None:
        raise ConfigurationError(
            f"{name!r} does not name a Graph LLM. Name local:default, or local: with a folder that "
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
    exported = Exported(
        config=model.config,
        identity=identity,
        served_name=served_name,
        ends=ends,
        files=files,
    )
    exported.write(part / NAME)
    return exported


def _plain(weights: Any) -> dict[str, Any]:
    return {name: value.detach().cpu().contiguous() for name, value in weights.items()}
