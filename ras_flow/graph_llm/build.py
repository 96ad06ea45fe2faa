"""A new Graph LLM over a base model that is loaded by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.llms.local.generation import memory_errors_say
from ras_flow.llms.local.model import read_model
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.support.extras import require

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM


def require_packages(*others: str) -> None:
    """Import torch, torch-geometric and other packages of the extra ``local``."""
    require("torch", extra="local")
    with warnings.catch_warnings():
        # torch-geometric calls it while it is imported, which newer versions of torch tell users.
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated")
        require("torch_geometric", extra="local")
    for package in others:
        require(package, extra="local")


def build_graph_llm(
    config: GraphLLMConfig, *, adapt: Callable[[Any], None] | None = None
) -> GraphLLM:
    """Load the base model and put untrained parts around it.

    ``adapt`` refuses a wrong base, or merges a trained adapter into it; without it a new adapter is
    put in place.
    """
    require_packages()
    # Its classes are torch modules, so this imports torch.
    from ras_flow.graph_llm.model import GraphLLM  # noqa: PLC0415

    tokenizer = load_tokenizer(config.base, chat=False)
    with memory_errors_say(
        f"Memory ran out while {config.base!r} was loaded as the base of a Graph LLM, in "
        f"{config.dtype}. Use a machine with more, hide a GPU that is too small "
        '(CUDA_VISIBLE_DEVICES=), train with model.dtype = "bfloat16", or name a smaller base. One '
        "that was trained also runs on vLLM, in half the memory: ras-flow export --dtype bfloat16"
    ):
        base = read_model(config.base, config.dtype)
        if adapt:
            adapt(base)
        return GraphLLM(config, base, tokenizer, adapted=adapt is not None).eval()
