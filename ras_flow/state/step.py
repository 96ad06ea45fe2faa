"""Whether the step that came with a hop's facts still holds: nothing that it saw was changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from ras_flow.settings.context import Context
from ras_flow.state.schema import Hop, Step, Triple


def fingerprint(triples: Mapping[str, Triple], hops: Sequence[Hop], settings: Context) -> str:
    """Return 16 hex digits of what a step depends on: the graph, the chain and the models."""
    chain = [[hop["subquery"], *hop["passages"], None, *hop.get("dropped", ())] for hop in hops]
    models = [getattr(settings, role) for role in settings.model_roles]
    seen = json.dumps([triples, chain, models], sort_keys=True)
    return sha256(seen.encode()).hexdigest()[:16]


def held_step(state: Any, settings: Context) -> Step | None:
    """Return the step that came along, unless what it saw was edited since."""
    step: Step | None = state.get("step")
    if step is None or step["saw"] != fingerprint(state["triples"], state["hops"], settings):
        return None
    return step
