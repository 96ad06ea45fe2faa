"""How surprised a Graph LLM is by what it should have written."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from ras_flow.graph_llm.collate import Collator, Example
from ras_flow.graph_llm.model import GraphLLM


def target_losses(model: GraphLLM, examples: Iterable[Example]) -> list[float]:
    """Measure the loss on each target, given all before it (§3.4).

    Args:
        model: The model; dropout is off if it is in evaluation mode.
        examples: What it is asked, with the graph, and what it should write.

    Returns:
        One loss an example, in order, in nats a token of the target with the one that ends it.

    Raises:
        InputError: A question does not fit into the model's window.
        ConfigurationError: A graph's attributes have another length than the model's.
    """
    collate = Collator(model.formatter)
    with torch.inference_mode():
        return [float(model(**collate([example])).loss) for example in examples]
