"""`ras-flow` with T²RAG over scripted parts, so that commands need no model."""

from __future__ import annotations

import sys
from dataclasses import replace

from ras_flow import systems
from ras_flow.parts.chosen import Parts
from ras_flow.t2rag.graph import SYSTEM as REAL
from ras_flow.t2rag.graph import wire
from tests.t2rag.world import world

SYSTEM = replace(REAL, build=lambda parts: wire(Parts.of(**world(), defaults=parts.defaults)))


def main(arguments: list[str]) -> None:
    from ras_flow.cli import main as ras_flow

    systems._BUILT_IN["t2rag"] = "tests.t2rag.scripted:SYSTEM"
    sys.argv = ["ras-flow", *arguments]
    ras_flow()
