"""The graphs' pictures and schemas, as users and servers see them: a change must be deliberate.

Descriptions are docstrings; their wording is free to change.

To accept a change: python -m tests.graph.test_snapshots
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ras_flow.systems import find_system

FOLDER = Path(__file__).parent / "snapshots"
DESIGN = Path(__file__).parents[2] / "docs" / "design.md"
FENCE = "```mermaid\n"
SYSTEMS = ("ras", "t2rag", "reg")


def schemas(system: str) -> dict[str, Any]:
    graph = find_system(system).builder().compile()
    return {
        "input": bare(graph.get_input_jsonschema()),
        "output": bare(graph.get_output_jsonschema()),
        "context": bare(graph.get_context_jsonschema() or {}),
    }


def bare(schema: Any) -> Any:
    """Leave out a schema's descriptions."""
    if isinstance(schema, list):
        return [bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    described = isinstance(schema.get("description"), str)
    return {
        name: bare(one) for name, one in schema.items() if not (described and name == "description")
    }


def own(schema: dict[str, Any], of_ras: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a schema shares with that of RAS."""
    kept = {}
    for part in ("properties", "$defs"):
        known = of_ras.get(part, {})
        kept[part] = {
            name: one for name, one in schema.get(part, {}).items() if known.get(name) != one
        }
    return {part: fields for part, fields in kept.items() if fields}


def pictures(system: str) -> dict[str, str]:
    drawing = find_system(system).builder().compile().get_graph().draw_mermaid()
    made, of_ras = schemas(system), schemas("ras")
    if system != "ras":
        made = {name: own(schema, of_ras[name]) for name, schema in made.items()}
    texts = {
        f"{name}.json": json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        for name, schema in made.items()
        if schema
    }
    return {"graph.mmd": drawing, **texts}


@pytest.mark.parametrize("system", SYSTEMS)
def test_picture_and_schemas_are_as_recorded(system: str) -> None:
    recorded = {path.name: path.read_text() for path in (FOLDER / system).iterdir()}
    assert pictures(system) == recorded


def test_the_design_page_shows_the_graph_as_it_is() -> None:
    page = DESIGN.read_text()
    assert drawn(page) == page


def drawn(page: str) -> str:
    """Return the page with today's picture in place of its first mermaid block."""
    before, _, rest = page.partition(FENCE)
    picture = pictures("ras")["graph.mmd"].rstrip()
    return f"{before}{FENCE}{picture}\n```{rest.partition('```')[2]}"


if __name__ == "__main__":
    for system in SYSTEMS:
        (FOLDER / system).mkdir(parents=True, exist_ok=True)
        for name, text in pictures(system).items():
            (FOLDER / system / name).write_text(text)
    DESIGN.write_text(drawn(DESIGN.read_text()))
