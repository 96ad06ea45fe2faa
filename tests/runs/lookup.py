"""The example system over scripted parts, so that the command line and the page need no model."""

from __future__ import annotations

from dataclasses import replace

from examples import lookup
from ras_flow.parts.chosen import Parts
from ras_flow.testing import ScriptedModel
from tests.graph.world import world

SYSTEM = replace(
    lookup.SYSTEM,
    build=lambda parts: lookup.build(
        Parts.of(**world(planner=None), rewriter=ScriptedModel("Lund"), defaults=parts.defaults)
    ),
)
