"""The graph's picture and schemas, as users and servers see them: a change must be deliberate.

To accept a change: python -m tests.graph.test_snapshots
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ras_flow.graph import graph

FOLDER = Path(__file__).parent / "snapshots"
DESIGN = Path(__file__).parents[2] / "docs" / "design.md"
FENCE = "```mermaid\n"


def pictures() -> dict[str, str]:
    def schema(value: dict[str, Any]) -> str:
        return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    return {
        "graph.mmd": graph.get_graph().draw_mermaid(),
        "input.json": schema(graph.get_input_jsonschema()),
        "output.json": schema(graph.get_output_jsonschema()),
        "context.json": schema(graph.get_context_jsonschema() or {}),
    }


def test_picture_and_schemas_are_as_recorded() -> None:
    recorded = {path.name: path.read_text() for path in FOLDER.iterdir()}
    assert pictures() == recorded


def test_the_design_page_shows_the_graph_as_it_is() -> None:
    page = DESIGN.read_text()
    assert drawn(page) == page


def drawn(page: str) -> str:
    """Return the page with today's picture in place of its first mermaid block."""
    before, _, rest = page.partition(FENCE)
    picture = pictures()["graph.mmd"].rstrip()
    return f"{before}{FENCE}{picture}\n```{rest.partition('```')[2]}"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (FOLDER / name).write_text(text)
    DESIGN.write_text(drawn(DESIGN.read_text()))
