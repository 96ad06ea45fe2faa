"""The model card of a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ras_flow.graph_llm.manifest import Manifest

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM


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
