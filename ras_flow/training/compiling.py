"""The layers of a language model, compiled: fewer and larger steps for the processor."""

from __future__ import annotations

from typing import Any

from ras_flow.errors import ConfigurationError
from ras_flow.extras import require


def compile_layers(model: Any) -> None:
    """Compile each repeated layer of a model in place, at its first batch.

    All layers of a kind share what is compiled, so it takes no longer with more of them. Names and
    weights stay as they are.

    Args:
        model: A module of torch.

    Raises:
        ConfigurationError: Nothing can be compiled here.
    """
    torch = require("torch", extra="local")
    weight = next(model.parameters())
    try:
        torch.compile(torch.sin, fullgraph=True)(weight.detach()[:1])
    except torch._dynamo.exc.BackendCompilerFailed as error:
        needed = "Triton" if weight.is_cuda else "a C++ compiler, such as g++"
        raise ConfigurationError(
            f"optimizer.compile needs {needed}, and there is none that works: "
            f"{str(error).splitlines()[0]}. Install it, or leave optimizer.compile out."
        ) from error
    for layers in model.modules():
        if isinstance(layers, torch.nn.ModuleList):
            for layer in layers:
                layer.compile(dynamic=True)
