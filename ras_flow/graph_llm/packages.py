"""The packages that a Graph LLM is made of."""

from __future__ import annotations

import warnings

from ras_flow.support.extras import require


def require_packages(*others: str) -> None:
    """Import torch, torch-geometric and other packages of the extra ``local``."""
    require("torch", extra="local")
    with warnings.catch_warnings():
        # torch-geometric calls it while it is imported, which newer versions of torch tell users.
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated")
        require("torch_geometric", extra="local")
    for package in others:
        require(package, extra="local")
